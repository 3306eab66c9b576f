package grammar

func init() {
	add(Country{
		Code: "US", Form: CityStateZIP, Codes: "99999,99999-9999,999999999", States: statesOf(english["states"]),
		Domains: "us gov edu mil", Languages: "en", Phone: "1",
		Names: "united states,united states of america,usa,us,vereinigte staaten",
	})
}
