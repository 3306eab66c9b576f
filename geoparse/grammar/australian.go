package grammar

func init() {
	add(Country{
		Code: "AU", Form: CityProvinceCode, Codes: "9999",
		Domains: "au", Languages: "en", Phone: "61", Names: "australia,australien,au",
		States: statesOf("NSW:new south wales;VIC:victoria;QLD:queensland;SA:south australia;" +
			"WA:western australia;TAS:tasmania;NT:northern territory;" +
			"ACT:australian capital territory"),
	})
}
