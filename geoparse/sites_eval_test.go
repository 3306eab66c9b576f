package geoparse

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"

	"golang.org/x/net/html/charset"
)

// A siteRow is what people read of one address on a site of ../shared/data/sites.
type siteRow struct {
	role, notes string
	names       []string
	kinds       []string // that are right; "office=*" is any office
	streets     []string // folded, with the house number
	postcodes   []string
}

// ambiguous reports whether the row is a matter of opinion.
func (r *siteRow) ambiguous() bool { return strings.Contains(r.notes, "ambiguous") }

var alternatives = regexp.MustCompile(`alt-(street|nr|plz|address): ([^;)]+)`)

func houseKey(street, number string) string {
	street = strings.ToLower(strings.NewReplacer("ß", "ss", "straße", "str", "Straße", "str").Replace(street))
	street = strings.NewReplacer("strasse", "str", " ", "", ".", "", "-", "", ",", "", "–", "").Replace(street)
	return street + " " + strings.ToLower(strings.NewReplacer(" ", "", "–", "-").Replace(number))
}

// readSites returns the rows of each host of a set.
func readSites(t *testing.T, dir string) map[string][]siteRow {
	text, err := os.ReadFile(filepath.Join(dir, "truth.tsv"))
	if err != nil {
		t.Skip(err)
	}
	rows := map[string][]siteRow{}
	head := map[string]int{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(head) == 0 {
			for i, name := range cells {
				head[name] = i
			}
			continue
		}
		of := func(name string) string { return cells[head[name]] }
		r := siteRow{role: of("role"), notes: of("notes"), names: []string{of("name")}, postcodes: []string{of("postcode")}}
		r.kinds = strings.FieldsFunc(of("kind"), func(r rune) bool { return r == '|' })
		for name := range strings.SplitSeq(of("other_spellings"), "|") {
			if name != "" {
				r.names = append(r.names, name)
			}
		}
		streets, numbers := []string{of("street")}, []string{of("housenumber")}
		for _, alt := range alternatives.FindAllStringSubmatch(r.notes, -1) {
			switch value := strings.TrimSpace(alt[2]); alt[1] {
			case "street":
				streets = append(streets, value)
			case "nr":
				numbers = append(numbers, value)
			case "plz":
				r.postcodes = append(r.postcodes, value)
			default:
				if i := strings.LastIndexByte(value, ' '); i > 0 {
					r.streets = append(r.streets, houseKey(value[:i], value[i+1:]))
				}
			}
		}
		for _, s := range streets {
			for _, n := range numbers {
				r.streets = append(r.streets, houseKey(s, n))
			}
		}
		rows[of("host")] = append(rows[of("host")], r)
	}
	if len(rows) == 0 {
		t.Fatal("no rows in " + dir)
	}
	return rows
}

// rowOf returns the row of an address, or nil.
func rowOf(rows []siteRow, a *Address) *siteRow {
	for i := range rows {
		r := &rows[i]
		if slices.Contains(r.streets, houseKey(a.Street, a.HouseNumber)) && slices.Contains(r.postcodes, a.Postcode) {
			return r
		}
	}
	return nil
}

// siteFolders yields the folders of sites and their sets: those at hand, then "further" for each folder
// that the environment variable EVAL_SITES lists.
func siteFolders(t *testing.T) iter.Seq2[string, string] {
	return func(yield func(dir, set string) bool) {
		for _, set := range []string{"de", "en", "ro"} {
			if !yield(filepath.Join(sharedData(t), "sites", set), set) {
				return
			}
		}
		for _, dir := range filepath.SplitList(os.Getenv("EVAL_SITES")) {
			if !yield(dir, "further") {
				return
			}
		}
	}
}

// eachSitePage parses every page of the sites with the parser, after begin.
func eachSitePage(
	t *testing.T, p *Parser, begin func(set, host, path string, rows []siteRow), end func(Input, Verdict),
) {
	pages := 0
	for dir, set := range siteFolders(t) {
		all := readSites(t, dir)
		hosts, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range hosts {
			root := filepath.Join(dir, host.Name())
			if !host.IsDir() {
				continue
			}
			err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
				if ext := strings.ToLower(filepath.Ext(file)); err != nil || d.IsDir() || ext != ".html" && ext != ".htm" && ext != ".xhtml" {
					return err
				}
				body, err := os.ReadFile(file)
				if err != nil || len(body) == 0 {
					return err
				}
				r, err := charset.NewReader(strings.NewReader(string(body)), "")
				if err != nil {
					return err
				}
				doc := markup.Parse(readAll(r))
				path, _ := filepath.Rel(root, file)
				path = "/" + filepath.ToSlash(path)
				begin(set, host.Name(), path, all[host.Name()])
				in := Input{
					Text: markup.Text(doc), Doc: doc, Title: markup.Read(doc).Title, Host: host.Name(), Path: path,
				}
				v, err := p.Parse(t.Context(), in)
				if end != nil {
					end(in, v)
				}
				pages++
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if pages < 100 {
		t.Fatalf("%d pages of sites", pages)
	}
}

// siteNames returns the candidates of the addresses of the sites that have a row.
func siteNames(t *testing.T, p *Parser) (all []addressOf) {
	var page *markedPage
	var of []siteRow
	var set, group string
	p.onName = func(a *Address, read *place.Page, around place.Around) {
		row := rowOf(of, a)
		if row == nil || row.role == "home" || row.ambiguous() {
			return
		}
		one := addressOf{page: page, group: group, set: set, third: row.role == "third-party", examples: read.Examples(around)}
		for _, e := range one.examples {
			onlyPlace := e.Features[slices.Index(place.Features(), "branch-only")] > 0 // "Lachen": no name on its own
			one.right = append(one.right, !onlyPlace && slices.ContainsFunc(row.names, func(name string) bool { return sameOrg(e.Text, name) }))
		}
		all = append(all, one)
	}
	eachSitePage(t, p, func(in, host, path string, rows []siteRow) {
		page, of, set, group = &markedPage{ID: host + path}, rows, "sites "+in, host
	}, nil)
	return all
}

// siteDoors returns the mentions of the addresses of the sites that have a row.
func siteDoors(t *testing.T) (all []door) {
	p := evalParser(t)
	var of []siteRow
	var host, path string
	p.onDoor = func(a *Address, d *place.Door) {
		row := rowOf(of, a)
		if row == nil || row.ambiguous() || row.role == "third-party" {
			return
		}
		all = append(all, door{
			key: host + addressHash(a), group: host, text: host + path + " " + a.Text, set: "sites", home: row.role == "home",
			values: d.Values(), private: isHome(d),
		})
	}
	eachSitePage(t, p, func(_, h, pa string, rows []siteRow) { host, path, of = h, pa, rows }, nil)
	return all
}
