package grammar

import "strings"

func init() {
	add(Country{
		Code: "ES", Form: CodeCity, Codes: "99999", NumberFirst: true, StateOf: spanishProvince,
		Prefixes: "E ES", Domains: "es", Languages: "es ca", Phone: "34",
		Names: "spain,espana,españa,spanien,espagne,es",
	})
	add(Country{
		Code: "AD", Form: CodeCity, NumberFirst: true,
		Prefixes: "AD", Domains: "ad", Languages: "es ca", Phone: "376", Names: "andorra,ad",
	})
	addWords(Words{
		Leads: `calle c/ cl c avda avenida paseo plaza pza ronda travesia camino glorieta
			costanilla cuesta urbanizacion poligono 
			carrer carrera avinguda placa passeig passatge rambla travessera`,
		Adjectives: "gran",
		Units:      "esc puerta pta planta piso",
		Floors:     "izq izda izquierda dcha derecha planta piso bajo",
		Labels:     "poblacion ciudad cp",
	})
}

// spanishProvinces are the provinces of Spain by the first two digits of their
// postcodes, from 01 on.
var spanishProvinces = strings.Split("Álava,Albacete,Alicante,Almería,Ávila,Badajoz,Illes Balears,Barcelona,Burgos,Cáceres,Cádiz,"+
	"Castellón,Ciudad Real,Córdoba,A Coruña,Cuenca,Girona,Granada,Guadalajara,Gipuzkoa,Huelva,"+
	"Huesca,Jaén,León,Lleida,La Rioja,Lugo,Madrid,Málaga,Murcia,Navarra,Ourense,Asturias,"+
	"Palencia,Las Palmas,Pontevedra,Salamanca,Santa Cruz de Tenerife,Cantabria,Segovia,Sevilla,"+
	"Soria,Tarragona,Teruel,Toledo,Valencia,Valladolid,Bizkaia,Zamora,Zaragoza,Ceuta,Melilla", ",")

// spanishProvince returns the province of a postcode of Spain, or "".
func spanishProvince(code string) string {
	if len(code) != 5 {
		return ""
	}
	n := leadingInt(code[:2])
	if n < 1 || n > len(spanishProvinces) {
		return ""
	}
	return spanishProvinces[n-1]
}
