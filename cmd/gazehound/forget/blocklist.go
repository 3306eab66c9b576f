package forget

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/index"
)

// A Blocklist is what was forgotten and must not come back: blocked.txt in the
// data directory. Each line is one of
//
//	host NAME       the host and all below it; with a port that one only
//	url URL         one page
//	address ID      an address wherever it is stated, by its index.Place
//	text ID         a telephone number, e-mail address or street and number, see textID
//
// IDs do not say what they are of. The zero value is empty. A Blocklist takes 8 bytes a line.
type Blocklist struct {
	hosts     set
	urls      set // by identity
	addresses set
	texts     set
}

// A set of texts, as their sorted hashes. At ten million texts the probability that another one has
// a hash in the set is 1 in 10^12.
type set []uint64

var seed = maphash.MakeSeed()

func (s set) has(text string) bool {
	if len(s) == 0 {
		return false
	}
	_, found := slices.BinarySearch(s, maphash.String(seed, text))
	return found
}

func (s *set) add(text string) { *s = append(*s, maphash.String(seed, text)) }

var placeID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// IsAddressID reports whether text has the form of the ID of an address.
func IsAddressID(text string) bool { return placeID.MatchString(text) }

// NewBlocklist returns the list of these lines. Empty lines and lines that begin
// with # are comments. An error names the line.
func NewBlocklist(lines ...string) (b Blocklist, err error) {
	for n, line := range lines {
		err := b.add(line)
		if err != nil {
			return b, fmt.Errorf("%d: %w", n+1, err)
		}
	}
	b.sort()
	return b, nil
}

func (b *Blocklist) sort() {
	for _, s := range []*set{&b.hosts, &b.urls, &b.addresses, &b.texts} {
		slices.Sort(*s)
		*s = slices.Compact(*s)
	}
}

// isPlainHost reports whether a canonical URL writes a host name as it is: labels of letters a to z
// and digits, which no label begins with.
func isPlainHost(name string) bool {
	dots := 0
	before := byte('.')
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9' && before != '.':
		case c == '.' && before != '.':
			dots++
		default:
			return false
		}
		before = c
	}
	return dots > 0 && before != '.'
}

// add adds a line; sort must follow.
func (b *Blocklist) add(line string) error {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	kind, what, _ := strings.Cut(line, " ")
	what = strings.TrimSpace(what)
	switch kind {
	case "host":
		if isPlainHost(what) {
			b.hosts.add(what)
			return nil
		}
		u, err := weburl.Parse("http://" + what + "/")
		if err != nil || u.Path() != "/" || u.Query() != "" {
			return fmt.Errorf("%.100q is not a host name", what)
		}
		b.hosts.add(u.Host())
	case "url":
		u, err := weburl.Parse(what)
		if err != nil {
			return err
		}
		b.urls.add(u.Identity())
	case "address", "text":
		if !IsAddressID(what) {
			return fmt.Errorf("%.60q is not an ID, 16 hexadecimal digits", what)
		}
		if kind == "text" {
			b.texts.add(what)
		} else {
			b.addresses.add(what)
		}
	default:
		return fmt.Errorf("%.60q is not one of: host NAME, url URL, address ID, text ID", line)
	}
	return nil
}

// maxLine bounds a line of blocked.txt, in bytes.
const maxLine = 64 << 10

// eachBlocked calls fn with every line of blocked.txt, comments included; a file that is not there
// has none.
func (d Dir) eachBlocked(fn func(n int, line string) error) error {
	f, err := os.Open(d.blocked())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("blocklist: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.Reader(f))
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		err := fn(n, lines.Text())
		if err != nil {
			return fmt.Errorf("%s:%d: %w", d.blocked(), n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: the line has more than %d bytes", d.blocked(), n+1, maxLine)
	}
	return lines.Err()
}

// Blocklist reads blocked.txt. What forgotten.log names and the file lacks is blocked all the same,
// unless it is commented out.
func (d Dir) Blocklist() (b Blocklist, err error) {
	missing, err := d.readBlocked(b.add)
	if err != nil {
		return b, err
	}
	for _, line := range missing {
		err := b.add(line)
		if err != nil {
			return b, fmt.Errorf("%s: %w", d.log(), err)
		}
	}
	b.sort()
	return b, nil
}

// readBlocked calls fn with every line of blocked.txt, and returns the lines that removals of
// forgotten.log have written to it and that are not there any more, not even commented out.
func (d Dir) readBlocked(fn func(line string) error) (missing []string, err error) {
	done, err := readLines[Removal](d.log())
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for i := range done {
		for _, line := range done[i].lines() {
			if !wanted[line] {
				wanted[line] = true
				missing = append(missing, line)
			}
		}
	}
	err = d.eachBlocked(func(_ int, line string) error {
		delete(wanted, uncommented(line))
		return fn(line)
	})
	return slices.DeleteFunc(missing, func(line string) bool { return !wanted[line] }), err
}

// Has reports whether u must not be fetched or kept: because of its host, itself, or a host or page
// that its path or query names.
func (b Blocklist) Has(u weburl.URL) bool {
	if len(b.urls) > 0 && b.urls.has(u.Identity()) {
		return true
	}
	return b.hosts.has(u.Host()) || b.hasHost(u.Hostname()) || b.Names(u.Path()+" "+u.Query())
}

// uncommented returns a line without the # of a comment.
func uncommented(line string) string { return strings.TrimLeft(strings.TrimSpace(line), "# ") }

// hasHost reports whether a host or one above it is blocked.
func (b *Blocklist) hasHost(name string) bool {
	for len(b.hosts) > 0 && name != "" {
		if b.hosts.has(name) {
			return true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return false
}

// HasPage is Has of a URL that is a text.
func (b Blocklist) HasPage(raw string) bool {
	u, err := weburl.Parse(raw)
	return err == nil && b.Has(u)
}

// HasPlace reports whether an address of this index.Place must not be kept.
func (b Blocklist) HasPlace(place string) bool { return b.addresses.has(place) }

// hasKey is HasPlace of an address in the crawl tree, a geoparse.Parts.Key.
func (b Blocklist) hasKey(key string) bool {
	p, ok := geoparse.ReadKey(key)
	return ok && (b.HasPlace(index.PlaceOf(p.Street, p.Number, p.Postcode, "")) ||
		b.HasPlace(index.PlaceOf(p.Street, p.Number, "", p.City)))
}

// HasAddress reports whether an address must not be kept.
func (b Blocklist) HasAddress(a geoparse.Address) bool {
	return len(b.addresses) > 0 && slices.ContainsFunc(index.Places(a), b.HasPlace)
}

// textID returns the ID of a telephone number, an e-mail address, or street and house number, or ""
// for other texts. Of a telephone number its last eight digits count, which all ways of writing it
// share.
func textID(text string) string {
	digits := digitsOf(text)
	switch {
	case strings.Contains(text, "@"):
		return idOf(strings.ToLower(text))
	case isPhone(text, digits):
		return idOf(digits[max(0, len(digits)-maxPhone):])
	}
	return lineID(strings.Fields(wordsOf(text)))
}

// lineID returns the ID of the words of street and house number, or "" for other words.
func lineID(words []string) string {
	house := slices.IndexFunc(words, isNumber)
	if house < 1 || house > maxStreet || len(words) > house+2 {
		return ""
	}
	return idOf(strings.Join(words, " "))
}

// maxStreet bounds the words of a street before its number.
const maxStreet = 5

// isNumber reports whether a word begins like a house number.
func isNumber(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// idOf returns the ID of a text in the spelling that all its spellings share.
func idOf(plain string) string {
	sum := sha256.Sum256([]byte("text\x1f" + plain))
	return hex.EncodeToString(sum[:8])
}

// A telephone number is known by its last digits.
const (
	minPhone = 6
	maxPhone = 8
)

// Names reports whether a text names a blocked host or page, or has a blocked telephone number or
// e-mail address, as it is or escaped once or twice as in the query of a URL.
func (b Blocklist) Names(text string) bool {
	if len(b.hosts)+len(b.urls)+len(b.texts) == 0 {
		return false
	}
	return inSpellings(text, func(text string) bool { return len(b.spans(text, 1)) > 0 })
}

// Blank returns a text of as many characters with spaces in place of what it names.
func (b Blocklist) Blank(text string) string {
	spans := b.spans(text, len(text))
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.to <= at {
			continue
		}
		from := max(at, s.from)
		out.WriteString(text[at:from])
		out.WriteString(spaces(text[from:s.to]))
		at = s.to
	}
	out.WriteString(text[at:])
	if b.Names(out.String()) { // escaped, or across what was blanked
		return spaces(text)
	}
	return out.String()
}

// spaces returns as many spaces as a text has characters.
func spaces(text string) string { return strings.Repeat(" ", len([]rune(text))) }
