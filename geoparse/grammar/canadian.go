package grammar

func init() {
	add(Country{
		Code: "CA", Form: CityProvinceCode, Codes: "A9A 9A9", Cities: canadianCities,
		Domains: "ca", Languages: "en fr", Phone: "1", Names: "canada,kanada,ca",
		States: statesOf(english["provinces"]),
	})
}

// canadianCities are those that GeoNames' postal codes of Canada name by their
// quarters only.
var canadianCities = english.Words("canadian-cities")
