package grammar

import "strings"

// spanishProvinces are the provinces of Spain by the first two digits of their
// postcodes, from 01 on.
var spanishProvinces = strings.Split("Álava,Albacete,Alicante,Almería,Ávila,Badajoz,Illes Balears,Barcelona,Burgos,Cáceres,Cádiz,Castellón,Ciudad Real,Córdoba,A Coruña,Cuenca,Girona,Granada,Guadalajara,Gipuzkoa,Huelva,Huesca,Jaén,León,Lleida,La Rioja,Lugo,Madrid,Málaga,Murcia,"+
	"Navarra,Ourense,Asturias,Palencia,Las Palmas,Pontevedra,Salamanca,Santa Cruz de Tenerife,Cantabria,Segovia,Sevilla,Soria,Tarragona,Teruel,Toledo,Valencia,Valladolid,Bizkaia,Zamora,Zaragoza,Ceuta,Melilla", ",")

// SpanishProvince returns the province of a postcode of Spain, or "".
func SpanishProvince(code string) string {
	if len(code) != 5 {
		return ""
	}
	n := leadingInt(code[:2])
	if n < 1 || n > len(spanishProvinces) {
		return ""
	}
	return spanishProvinces[n-1]
}
