package place

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
)

// Bounds of telephone numbers.
const (
	leastDigits = 6
	mostDigits  = 16
	phoneTries  = 3 // of one address
)

var faxBehind = regexp.MustCompile(`(?i)^[ (|–-]*fax`)

// PhoneIn returns the first telephone number in text that is no fax: one with
// a label, or alone in its line, in E.164.
func PhoneIn(text, country string) string {
	tries, heading := 0, "" // the line before, where it holds no number
	for line := range strings.SplitSeq(text, "\n") {
		label := 0 // where the words before the number begin
		for i := 0; i < len(line) && tries < phoneTries; {
			if c := line[i]; c-'0' > 9 && c != '+' && c != '(' {
				i++
				continue
			}
			end, digits := numberEnd(line, i)
			if digits < leastDigits || digits > mostDigits || i > 0 && isLetterAt(line, lastRune(line, i)) {
				i = max(end, i+1)
				continue
			}
			said := strings.ToLower(line[label:i])
			if strings.TrimSpace(said) == "" {
				said = heading
			}
			switch {
			case strings.Contains(said, "fax"), faxBehind.MatchString(line[end:min(len(line), end+8)]):
			case isPhoneLabel(said), looksLikePhone(line, i, end, country),
				line[i] == '+' && !strings.ContainsAny(said, "0123456789"):
				tries++
				if n := PhoneNumber(line[i:end], country); n != "" {
					return n
				}
			}
			label, i = end, end
		}
		if heading = ""; label == 0 && len(line) < 30 {
			heading = strings.ToLower(line)
		}
	}
	return ""
}

// looksLikePhone reports whether the digits in line[from:to] are a telephone
// number by their form alone: "(413) 732-8702", "413.732.8702" in North America,
// elsewhere a number with its prefix that has a line for itself.
func looksLikePhone(line string, from, to int, country string) bool {
	if country == "US" || country == "CA" {
		groups := strings.FieldsFunc(line[from:to], func(r rune) bool { return r-'0' > 9 || r < '0' })
		if len(groups) == 4 && groups[0] == "1" {
			groups = groups[1:]
		}
		return len(groups) == 3 && len(groups[0]) == 3 && len(groups[1]) == 3 && len(groups[2]) == 4
	}
	return line[from] == '0' && strings.Trim(line[:from]+line[to:], " .,;|") == "" &&
		strings.ContainsAny(line[from:to], " /-")
}

// numberEnd returns the end of the digits with what may stand between them in
// a telephone number, and their count.
func numberEnd(line string, i int) (end, digits int) {
	end = i
	for i < len(line) {
		switch c := line[i]; {
		case c-'0' <= 9:
			digits++
			i++
			end = i
		case c == ' ' || c == '(' || c == ')' || c == '/' || c == '-' || c == '.' || c == '+' && digits == 0:
			i++
		case strings.HasPrefix(line[i:], "–"):
			i += len("–")
		default:
			return end, digits
		}
		if i-end > 4 {
			return end, digits
		}
	}
	return end, digits
}

func isPhoneLabel(words string) bool {
	for _, label := range [...]string{"tel", "fon", "phone", "ruf", "mobil", "call", "handy", "☎", "📞"} {
		if strings.Contains(words, label) {
			return true
		}
	}
	words = strings.TrimRight(words, " .:")
	return words == "t" || words == "p" || strings.HasSuffix(words, " t")
}

// PhoneNumber returns a number as E.164, read as in country where it has no
// international prefix; "" where it is none that can be called.
func PhoneNumber(text, country string) string {
	if len(text) < leastDigits || len(text) > 60 {
		return ""
	}
	n, err := phonenumbers.Parse(text, cmp.Or(country, "ZZ"))
	if err != nil || !phonenumbers.IsValidNumber(n) {
		return ""
	}
	return phonenumbers.Format(n, phonenumbers.E164)
}

var (
	mailIn      = regexp.MustCompile(`[\w.+-]+@[\w.+-]+`)
	mailAddress = regexp.MustCompile(`^([a-z0-9._+-]+)@([a-z0-9_+-]+(?:\.[a-z0-9_+-]+)+)$`)
)

// EmailIn returns the first mail address in text that is a role's.
func EmailIn(text string) string {
	for _, address := range mailIn.FindAllString(text, -1) {
		if e := RoleAddress(strings.Trim(address, ".-_")); e != "" {
			return e
		}
	}
	return ""
}

// RoleAddress returns a mail address in lower case if its local part names a
// role, or the host itself, and no person; else "".
func RoleAddress(address string) string {
	address = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(address), "mailto:"))
	address, _, _ = strings.Cut(address, "?")
	m := mailAddress.FindStringSubmatch(address)
	if m == nil || len(address) > 100 {
		return ""
	}
	local, host := m[1], m[2]
	part, _, _ := strings.Cut(local, "-")
	part, _, _ = strings.Cut(part, ".")
	name, _, _ := strings.Cut(strings.TrimPrefix(host, "www."), ".")
	ofHost := len(local) >= 4 && local == name && IsFirm(strings.ReplaceAll(name, "-", " "))
	if mailRoles[local] || mailRoles[part] || ofHost {
		return address
	}
	return ""
}

var mailRoles = Words("mail-roles")

var webIn = regexp.MustCompile(`(?:^|[^\pL@])((?:https?://|www\.)[!-~]+)`)

// WebsiteIn returns the first web address in text.
func WebsiteIn(text string) string {
	for _, m := range webIn.FindAllStringSubmatch(text, -1) {
		address := strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(`"'<>(),;|`, r) })[0]
		if u := WebURL(strings.TrimRight(address, ".:!?")); u != "" {
			return u
		}
	}
	return ""
}

// WebURL returns an http or https URL with a host of the web, in a form that
// can be a tag; "" for anything else. A host alone gets https.
func WebURL(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(strings.ToLower(text), "www.") {
		text = "https://" + text
	}
	if text == "" || len(text) > 200 {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return ""
	}
	dot := strings.LastIndexByte(u.Hostname(), '.')
	if dot < 1 || dot == len(u.Hostname())-1 || !isLetterAt(u.Hostname(), dot+1) {
		return ""
	}
	u.Host, u.Fragment = strings.ToLower(u.Host), ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// IsDetail reports whether a line holds a telephone number, hours or a web or
// mail address.
func IsDetail(line string) bool {
	if strings.Contains(line, "@") || strings.Contains(line, "www.") || strings.Contains(line, "://") {
		return true
	}
	n := 0
	for i := range len(line) {
		if line[i]-'0' <= 9 {
			n++
		}
	}
	if n >= 6 {
		return true
	}
	return isDayLine(line)
}

// isLetterAt reports whether the character that begins at text[i] is a letter.
func isLetterAt(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsLetter(r)
}

// lastRune returns where the character that ends before text[i] begins.
func lastRune(text string, i int) int {
	_, n := utf8.DecodeLastRuneInString(text[:i])
	return i - n
}
