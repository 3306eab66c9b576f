package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// Programs of others read what was written: GDAL, which QGIS and many more
// stand on, and libxml2. Each finds every address, with its words and place.
func TestOtherReaders(t *testing.T) {
	x := town(t, shops)
	dir := t.TempDir()
	for _, c := range []struct {
		format, file string
		tool         string   // of the Debian package
		pkg          string   //
		args         []string // before the file
		want         string   // a regular expression of the output, beside the number of addresses
	}{
		{"geojson", "a.geojson", "ogrinfo", "gdal-bin", []string{"-ro", "-al", "-noextent"}, `addr:street \(String\) = Nadorster Straße[\s\S]*POINT \(8\.2187 53\.15262\)`},
		{"geojsonseq", "a.geojsonl", "ogrinfo", "gdal-bin", []string{"-ro", "-al"}, `addr:street \(String\) = Nadorster Straße[\s\S]*POINT \(8\.2187 53\.15262\)`},
		{"csv", "a.csv", "ogrinfo", "gdal-bin", []string{"-ro", "-al", "-oo", "X_POSSIBLE_NAMES=lon", "-oo", "Y_POSSIBLE_NAMES=lat"}, `addr:street \(String\) = Nadorster Straße[\s\S]*POINT \(8\.2187 53\.15262\)`},
		{"kml", "a.kml", "ogrinfo", "gdal-bin", []string{"-ro", "-al"}, `Name \(String\) = Tischlerei Harms[\s\S]*POINT (Z )?\(8\.2187 53\.15262`},
		{"gpx", "a.gpx", "ogrinfo", "gdal-bin", []string{"-ro", "-al"}, `name \(String\) = Tischlerei Harms[\s\S]*POINT \(8\.2187 53\.15262\)`},
		{"osm", "a.osm", "ogrinfo", "gdal-bin", []string{"-ro", "-al", "--config", "OSM_USE_CUSTOM_INDEXING", "NO"}, `addr:street"=>"Nadorster Straße"[\s\S]*POINT \(8\.2187 53\.15262\)`},
		{"atom", "a.atom", "ogrinfo", "gdal-bin", []string{"-ro", "-al"}, `title \(String\) = Tischlerei Harms[\s\S]*POINT \(8\.2187 53\.15262\)`},
		{"kml", "b.kml", "xmllint", "libxml2-utils", []string{"--noout", "--nonet"}, ""},
		{"gpx", "b.gpx", "xmllint", "libxml2-utils", []string{"--noout", "--nonet"}, ""},
		{"osm", "b.osm", "xmllint", "libxml2-utils", []string{"--noout", "--nonet"}, ""},
		{"atom", "b.atom", "xmllint", "libxml2-utils", []string{"--noout", "--nonet"}, ""},
	} {
		t.Run(c.format+" by "+c.tool, func(t *testing.T) {
			tool, err := exec.LookPath(c.tool)
			if err != nil {
				t.Skipf("no %s here (Debian: %s)", c.tool, c.pkg)
			}
			text, sum := export(t, x, c.format, options())
			name := filepath.Join(dir, c.file)
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), tool, append(c.args, name)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if c.want == "" {
				if len(out) > 0 {
					t.Errorf("it complains:\n%s", out)
				}
				return
			}
			if !regexp.MustCompile(c.want).Match(out) {
				t.Errorf("%s is not in\n%s", c.want, out)
			}
			n := 0
			for _, m := range regexp.MustCompile(`(?m)^Feature Count: (\d+)`).FindAllSubmatch(out, -1) {
				i, _ := strconv.Atoi(string(m[1]))
				n += i
			}
			if n == 0 { // the OSM reader does not count before it reads
				n = len(regexp.MustCompile(`(?m)^OGRFeature\(`).FindAll(out, -1))
			}
			if n != sum.Addresses {
				t.Errorf("%d features, %d addresses were written:\n%s", n, sum.Addresses, out)
			}
			if regexp.MustCompile(`(?m)^(Warning|ERROR)`).Match(out) {
				t.Errorf("it complains:\n%s", out)
			}
		})
	}
}
