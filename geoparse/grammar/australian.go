package grammar

func init() {
	add(Country{
		Code: "AU", Form: CityProvinceCode, Codes: "9999", Domains: "au", Languages: "en", Phone: "61", Names: "australia,australien,au",
		States: map[string]string{
			"new south wales": "NSW", "nsw": "NSW", "victoria": "VIC", "vic": "VIC", "queensland": "QLD", "qld": "QLD", "south australia": "SA", "sa": "SA", "western australia": "WA", "wa": "WA",
			"tasmania": "TAS", "tas": "TAS", "northern territory": "NT", "nt": "NT", "australian capital territory": "ACT", "act": "ACT",
		},
	})
}
