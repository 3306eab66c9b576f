package grammar

func init() {
	add(Country{
		Code: "CA", Form: CityProvinceCode, Codes: "A9A 9A9", Cities: canadianCities,
		Domains: "ca", Languages: "en fr", Names: "canada,kanada,ca",
		States: statesOf("AB:alberta,alta;BC:british columbia,colombie-britannique;MB:manitoba;" +
			"NB:new brunswick,nouveau-brunswick;" +
			"NL:newfoundland,newfoundland and labrador,terre-neuve;NS:nova scotia,nouvelle-ecosse;" +
			"NT:northwest territories;NU:nunavut;ON:ontario,ont;" +
			"PE:prince edward island,pei,ile-du-prince-edouard;QC:quebec,que,pq;" +
			"SK:saskatchewan,sask;YT:yukon"),
	})
}

// canadianCities are those that GeoNames' postal codes of Canada name by their
// quarters only.
var canadianCities = set(`montreal quebec ottawa toronto vancouver calgary edmonton winnipeg mississauga burnaby
	gatineau troisrivieres saintjohn saintjerome halifax hamilton london laval brampton surrey
	markham vaughan burlington barrie regina saskatoon verdun longueuil sherbrooke rimouski
	scarborough etobicoke northyork coquitlam northvancouver westvancouver richmond kitchener
	windsor oshawa kingston guelph moncton fredericton victoria kelowna abbotsford`)
