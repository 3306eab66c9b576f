package place

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"

	"gazehound/geoparse/hours"
	"gazehound/internal/textutil"
)

// Bounds of telephone numbers.
const (
	leastDigits = 6
	mostDigits  = 16
	longEnough  = 9  // digits of a number that no spaced dash or area code parts
	phoneTries  = 3  // of one address
	mostAround  = 20 // letters in the line of a number that has no label
)

var (
	// faxBehind is the label of the number before it, "555-1234 (fax)", and not of one that follows.
	faxBehind = regexp.MustCompile(`(?i)^([ (|–-]*(?:fax|f\)))[.) ]*(?:$|[^.): +(\d])`)
	faxLabel  = regexp.MustCompile(`fax|facsim|(?:^|[\s|/·,;])fx?[.:]?\s*$`)
	// telAndFax is the label of a number for both.
	telAndFax = regexp.MustCompile(`(?:tel|fon|phone)[a-z.]*\s*(?:/|&|\+|und|and|u\.)\s*(?:tele)?fax`)
	// vanity numbers have letters: "1-800-FLOWERS", "303.333.PAUL".
	vanity = regexp.MustCompile(`^(?:\+?1[-. ])?(?:\(?8(?:00|33|44|55|66|77|88)\)?[-. ]+(?:[A-Z0-9]-?){7}|` +
		`(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-. ][A-Z]{4}\b)`)
	northAmerican = regexp.MustCompile(`^\D*(?:1\D+)?\d{3}\D+\d{3}\D+\d{4}\D*$`)
	phoneLabel    = regexp.MustCompile(`\bt[eé]l|telef|fon|phone|\b(?:an|not|rück)?ruf|mobil|call|handy|natel|` +
		`hotline|\bcell|whats.?app:? *$|\btlf|\btfno|m[oó]vil|\bbel(?:len)?\b|` +
		`\bopbel|\bchiam|\bll[aá]m|\bappel|\bvoice|toll.?free|contact number|office|büro|` +
		`zentrale|sekretariat|durchwahl|reception|☎|📞|` +
		`(?:^|[\s|/·,;])[tp][.:]?\s*$`)
	// otherNumber is the label of a number that cannot be called.
	otherNumber = regexp.MustCompile(`(?i)invoice|\border|account|konto|\bkto|\bblz|\biban|\bbic\b|` +
		`steuer[- ]?(?:n|id)|\bust\b|\bvat\b|\btax\b|regist|` +
		`hr[ab]\b|isbn|issn|company|charity|licen[cs]e|\bid\b|\bn(?:r|o|um)\b|nummer|artikel`)
	// faxExtension follows the number that a fax shares up to its last digits, "66099 (Fax -18)".
	faxExtension = regexp.MustCompile(`(?i)^[ (|,;]*fax[.:]?\s*[-–]\s?\d`)
	// noPhone is a version, "3.3.9.1", pages with their year, "762-782 (2011", or a date.
	noPhone = regexp.MustCompile(`(?:^|[ ./])\d\.\d\.\d(?:\D|$)|\((?:19|20)\d\d$|^(?:19|20)\d\d-[01]\d-[0-3]\d`)
	// bankLabel is the label of a number of a bank, a register or a video meeting, right before it.
	bankLabel = regexp.MustCompile(`(?:konto|\bkto|\biban|\bblz|\bbic|\bisbn|\bissn|\bhr[ab]|\bust|steuer|account|` +
		`registe?r|meeting|\bcode|\bein|\bnpi)(?:[-./ ]*(?:nr|no|num[mb]er|id|is))*[-.:#/ ]*$`)
	dateForm = regexp.MustCompile(`^\d{1,2}[-./ ]+\d{1,2}[-./ ]+(?:19|20)\d\d`)
)

// PhoneIn returns the first telephone number in text that is no fax: one with
// a label, or alone in its line, in E.164.
func PhoneIn(text, country string) string { return numberIn(text, country, false) }

// FaxIn returns the first fax number in text, one with that label, in E.164.
func FaxIn(text, country string) string { return numberIn(text, country, true) }

func numberIn(text, country string, wantFax bool) string {
	tries := 0
	var short []string // lines above, beginning with those that may be labels: "Tel:" and "Fax:"
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n·•|", r) }) {
		label := 0 // where the words before the number begin
		for i := 0; i < len(line) && tries < phoneTries; {
			if c := line[i]; c-'0' > 9 && c != '+' && c != '(' {
				i++
				continue
			}
			end, digits := numberEnd(line, i)
			if country == "US" || country == "CA" {
				if n := len(vanity.FindString(line[i:])); n > end-i {
					end, digits = i+n, leastDigits
				}
			}
			if digits < leastDigits || digits > mostDigits || noPhone.MatchString(line[i:end]) ||
				textutil.LetterBefore(line, i) {
				i = max(end, i+1)
				continue
			}
			said := strings.ToLower(line[label:i])
			if strings.TrimSpace(said) == "" && len(short) > 0 {
				short = headings(short)
				said, short = short[0], short[1:]
			}
			behind := faxBehind.FindStringSubmatch(line[end:])
			if faxExtension.MatchString(line[end:]) {
				behind = nil
			}
			fax := faxLabel.MatchString(said) && !telAndFax.MatchString(said) || behind != nil
			if fax == wantFax && !bankLabel.MatchString(said) && (fax ||
				phoneLabel.MatchString(said) || looksLikePhone(line, i, end, country) ||
				line[i] == '+' && !strings.ContainsAny(said, "0123456789")) {
				tries++
				if n := PhoneNumber(line[i:end], country); n != "" {
					return n
				}
			}
			label, i = end, end
			if behind != nil {
				label += len(behind[1])
			}
		}
		if label == 0 && len(line) < 30 {
			short = append(short, line)
		}
	}
	return ""
}

// headings returns the last of these lines above a number, in lower case: those that are labels of
// numbers, and the line above them. Only a number without a label needs them.
func headings(lines []string) (last []string) {
	for _, line := range slices.Backward(lines) {
		line = strings.ToLower(line)
		last = append(last, line)
		if !phoneLabel.MatchString(line) && !faxLabel.MatchString(line) {
			break
		}
	}
	slices.Reverse(last)
	return last
}

// looksLikePhone reports whether the digits in line[from:to] are a telephone number by their form alone: "(413)
// 732-8702", "413.732.8702" in North America, elsewhere a number with its prefix in a line with little else.
func looksLikePhone(line string, from, to int, country string) bool {
	number, around := line[from:to], line[:from]+line[to:]
	if country == "US" || country == "CA" {
		return northAmerican.MatchString(number) || vanity.FindString(line[from:]) == number
	}
	letters := countRunes(around, unicode.IsLetter) // dots are also those of amounts and dates
	prefixed := strings.HasPrefix(strings.TrimPrefix(number, "("), "0") || letters == 0 && withoutZero[country]
	divided := strings.ContainsAny(number, " /-") || letters == 0 && strings.Contains(number, ".")
	whole := letters == 0 && len(number) > 9 && country != "IT" && country != "BE" // whose firms have a number with 0
	return prefixed && letters <= mostAround && (divided || whole) &&
		!otherNumber.MatchString(around) && !dateForm.MatchString(number)
}

// withoutZero are countries where no 0 is dialled before an area.
var withoutZero = map[string]bool{
	"CZ": true, "DK": true, "ES": true, "GR": true, "LU": true, "NO": true, "PL": true, "PT": true,
}

// areaCode begins another number behind a space: "06582 / 73277 0664 / 3770802".
var areaCode = regexp.MustCompile(`^ 0\d{2,4} ?/`)

// extension ends a number and its line: "91499 - 00".
var extension = regexp.MustCompile(`^ \d{1,2}\s*$`)

// numberEnd returns the end of the digits with what may stand between them in a telephone number, and their count.
func numberEnd(line string, i int) (end, digits int) {
	end = i
	between := 0 // characters since the last digit
	for i < len(line) {
		switch r, n := utf8.DecodeRuneInString(line[i:]); {
		case '0' <= r && r <= '9':
			digits++
			i++
			end, between = i, 0
		case digits >= longEnough && r == '(': // "(24h)"; a zero that is not dialled from abroad stands further up
			return end, digits
		case digits >= longEnough && r == ' ' && areaCode.MatchString(line[i:]):
			return end, digits
		case digits >= longEnough && strings.ContainsRune("-–/", r) && line[i-1] == ' ' &&
			strings.HasPrefix(line[i+n:], " ") && !extension.MatchString(line[i+n:]):
			return end, digits // another number follows
		case r == '+' && digits == 0, strings.ContainsRune(" ()/-.‐‑–−\u00a0\u2009\u202f", r):
			i += n
			between++
		default:
			return end, digits
		}
		if between > 4 {
			return end, digits
		}
	}
	return end, digits
}

// PhoneNumber returns a number as E.164, read as in country where it has no
// international prefix; "" where it is none that can be called, as a fax.
func PhoneNumber(text, country string) string {
	if len(text) < leastDigits || len(text) > 60 {
		return ""
	}
	label := strings.ToLower(text[:max(strings.IndexAny(text, "0123456789"), 0)])
	if faxLabel.MatchString(label) && !telAndFax.MatchString(label) {
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
	if strings.IndexByte(text, '@') < 0 { // most texts, for less than the expression costs
		return ""
	}
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
	if !strings.Contains(text, "://") && !strings.Contains(text, "www.") {
		return ""
	}
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
	if dot < 1 || dot == len(u.Hostname())-1 || !textutil.LetterAt(u.Hostname(), dot+1) {
		return ""
	}
	u.Host, u.Fragment = strings.ToLower(u.Host), ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// IsDetail reports whether a line holds a telephone number, hours or a web or mail address.
func IsDetail(line string) bool {
	if strings.Contains(line, "@") || strings.Contains(line, "www.") || strings.Contains(line, "://") {
		return true
	}
	return countRunes(line, unicode.IsDigit) >= leastDigits || hours.IsDayLine(line)
}

// countRunes returns how many characters of a text are of a kind.
func countRunes(text string, kind func(rune) bool) (n int) {
	for _, r := range text {
		if kind(r) {
			n++
		}
	}
	return n
}
