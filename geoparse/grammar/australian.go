package grammar

func init() {
	add(Country{
		Code: "AU", Form: CityProvinceCode, Codes: "9999",
		Domains: "au", Languages: "en", Phone: "61", Names: "australia,australien,au",
		States: statesOf(english["australian-states"]),
	})
}
