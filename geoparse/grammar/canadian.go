package grammar

func init() {
	add(Country{
		Code: "CA", Form: CityProvinceCode, Codes: "A9A 9A9", Cities: canadianCities, Domains: "ca", Languages: "en fr", Names: "canada,kanada,ca",
		States: map[string]string{
			"alberta": "AB", "alta": "AB", "british columbia": "BC", "colombie-britannique": "BC", "manitoba": "MB", "new brunswick": "NB", "nouveau-brunswick": "NB",
			"newfoundland": "NL", "newfoundland and labrador": "NL", "terre-neuve": "NL", "nova scotia": "NS", "nouvelle-ecosse": "NS", "northwest territories": "NT", "nunavut": "NU",
			"ontario": "ON", "ont": "ON", "prince edward island": "PE", "pei": "PE", "ile-du-prince-edouard": "PE", "quebec": "QC", "que": "QC", "pq": "QC", "saskatchewan": "SK", "sask": "SK", "yukon": "YT",
			"ab": "AB", "bc": "BC", "mb": "MB", "nb": "NB", "nl": "NL", "ns": "NS", "nt": "NT", "nu": "NU", "on": "ON", "pe": "PE", "qc": "QC", "sk": "SK", "yt": "YT",
		},
	})
}

// canadianCities are those that GeoNames' postal codes of Canada name by their
// quarters only.
var canadianCities = set("montreal quebec ottawa toronto vancouver calgary edmonton winnipeg mississauga burnaby gatineau troisrivieres saintjohn saintjerome halifax hamilton london laval brampton surrey markham vaughan burlington barrie regina saskatoon verdun longueuil sherbrooke rimouski scarborough etobicoke northyork coquitlam northvancouver westvancouver richmond kitchener windsor oshawa kingston guelph moncton fredericton victoria kelowna abbotsford")
