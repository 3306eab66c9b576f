package place

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Days of the week from Monday on, and public holidays.
const (
	days    = 8
	sunday  = 6
	holiday = 7
)

var dayNames = [days]string{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su", "PH"}

// A daySet has a bit for each day.
type daySet uint8

// dayWords are the days as people write them, in lower case without the full
// stop of an abbreviation.
var dayWords = func() map[string]daySet {
	m := make(map[string]daySet)
	for i, names := range [days]string{
		"mo mon monday mondays montag montags", "tu di tue tues tuesday tuesdays dienstag dienstags", "we mi wed wednesday wednesdays mittwoch mittwochs",
		"th do thu thur thurs thursday thursdays donnerstag donnerstags", "fr fri friday fridays freitag freitags", "sa sat saturday saturdays samstag samstags sonnabend sonnabends",
		"su so sun sunday sundays sonntag sonntags", "ph feiertag feiertage feiertags feiertagen publicholidays holidays",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = 1 << i
		}
	}
	m["täglich"], m["daily"], m["everyday"] = 0x7f, 0x7f, 0x7f
	m["wochenende"], m["weekend"], m["weekends"] = 0x60, 0x60, 0x60
	m["weekdays"] = 0x1f
	m["sonn"] = 1 << sunday // "Sonn- und Feiertage"
	return m
}()

// A timeSpan is in minutes since midnight; where it ends on the next day, to is
// more than 24 hours.
type timeSpan struct{ from, to int }

// hours are what is open on each day: nil where nothing is said, empty where it
// is closed.
type hours [days][]timeSpan

// ParseHours reads opening hours as German and English pages and schema.org
// write them and returns them as OpenStreetMap does, days of a week in order:
// "Mo-Fr 08:00-18:00; Sa 09:00-13:00; Su off". It reads its own result. ok is
// false where text does not begin with opening hours; what follows them is not
// looked at.
func ParseHours(text string) (osm string, ok bool) {
	h, ok := readHours(text)
	if !ok {
		return "", false
	}
	return h.String(), true
}

// maxHoursText bounds the text of opening hours in bytes.
const maxHoursText = 1000

func readHours(text string) (h hours, ok bool) {
	if strings.TrimSpace(text) == "24/7" {
		for d := range holiday {
			h[d] = []timeSpan{{0, 24 * 60}}
		}
		return h, true
	}
	r := hoursReader{text: text[:min(len(text), maxHoursText)]}
	for {
		at := r.at
		set, found := r.days()
		if !found {
			r.at = at
			break
		}
		spans, closed, found := r.times()
		if !found {
			r.at = at
			break
		}
		if !h.add(set, spans, closed) {
			break
		}
		ok = ok || !closed
	}
	return h, ok
}

// add says what is open on some days. It is false where that contradicts what
// was said before: another list has begun.
func (h *hours) add(set daySet, spans []timeSpan, closed bool) bool {
	for d := range days {
		if set&(1<<d) == 0 || h[d] == nil {
			continue
		}
		if n := len(h[d]); closed || n == 0 || h[d][n-1].to > spans[0].from || n+len(spans) > maxSpans {
			return false
		}
	}
	for d := range days {
		if set&(1<<d) != 0 {
			if closed {
				h[d] = []timeSpan{}
			} else {
				h[d] = append(slices.Clip(h[d]), spans...)
			}
		}
	}
	return true
}

// maxSpans bounds the spans of a day.
const maxSpans = 4

// String returns h in the syntax of the key opening_hours.
func (h hours) String() string {
	var rules []string
	done := [days]bool{}
	for d := range days {
		if done[d] || h[d] == nil {
			continue
		}
		var names []string
		for e := d; e < days; e++ {
			if done[e] || h[e] == nil || !slices.Equal(h[e], h[d]) {
				continue
			}
			last := e
			for last < sunday && h[last+1] != nil && !done[last+1] && slices.Equal(h[last+1], h[d]) && e != holiday {
				last++
			}
			for k := e; k <= last; k++ {
				done[k] = true
			}
			name := dayNames[e]
			if last > e {
				name += "-" + dayNames[last]
			}
			names = append(names, name)
			e = last
		}
		what := "off"
		if len(h[d]) > 0 {
			var spans []string
			for _, s := range h[d] {
				to := s.to
				if to > 24*60 {
					to -= 24 * 60
				}
				spans = append(spans, fmt.Sprintf("%02d:%02d-%02d:%02d", s.from/60, s.from%60, to/60, to%60))
			}
			what = strings.Join(spans, ",")
		}
		rules = append(rules, strings.Join(names, ",")+" "+what)
	}
	return strings.Join(rules, "; ")
}

// An Opening is a stretch of a week in which a place is open: its day, 0 is Monday,
// and minutes since that day's midnight. One past midnight ends after 24 * 60.
type Opening struct{ Day, From, To int }

// Week returns when opening hours, as ParseHours returns them, say that a place is
// open in a week without public holidays.
func Week(osm string) (open []Opening) {
	h, _ := readHours(osm)
	for day, spans := range h[:holiday] {
		for _, s := range spans {
			open = append(open, Opening{day, s.from, s.to})
		}
	}
	return open
}

// Weekday returns the day that a lower-case word names in English or German, 0 is
// Monday; ok is false where it names none or several.
func Weekday(word string) (day int, ok bool) {
	set := dayWords[word] &^ (1 << holiday)
	return bits.TrailingZeros8(uint8(set)), set != 0 && oneDay(set)
}

// An hoursReader reads a text from at on.
type hoursReader struct {
	text string
	at   int
}

// skip passes over white space and the marks given.
func (r *hoursReader) skip(marks string) {
	for r.at < len(r.text) {
		c, n := utf8.DecodeRuneInString(r.text[r.at:])
		if !unicode.IsSpace(c) && !strings.ContainsRune(marks, c) {
			return
		}
		r.at += n
	}
}

// word returns the letters that follow, in lower case.
func (r *hoursReader) word() string {
	end := r.at
	for end < len(r.text) && isLetterAt(r.text, end) && end-r.at < 40 {
		_, n := utf8.DecodeRuneInString(r.text[end:])
		end += n
	}
	return strings.ToLower(r.text[r.at:end])
}

// take passes over one of the words.
func (r *hoursReader) take(words ...string) bool {
	w := r.word()
	if w == "" || !slices.Contains(words, w) {
		return false
	}
	r.at += len(r.text[r.at:]) - len(strings.TrimLeftFunc(r.text[r.at:], unicode.IsLetter))
	return true
}

// dash passes over what stands between the ends of a range.
func (r *hoursReader) dash() bool {
	at := r.at
	r.skip("")
	for _, d := range [...]string{"-", "–", "—", "‑", "−", "bis", "to", "until", "till", "through"} {
		if strings.HasPrefix(strings.ToLower(r.text[r.at:min(len(r.text), r.at+8)]), d) && (d[0] < 'a' || d[0] > 'z' || r.take(d)) {
			if d[0] < 'a' || d[0] > 'z' {
				r.at += len(d)
			}
			r.skip("")
			return true
		}
	}
	r.at = at
	return false
}

// day reads one name of a day. Short ones need a capital letter.
func (r *hoursReader) day() (daySet, bool) {
	w := r.word()
	set, ok := dayWords[w]
	if !ok || len(w) <= 3 && r.text[r.at]-'A' > 25 {
		return 0, false
	}
	at := r.at
	r.at += len(w)
	if r.at > len(r.text) || strings.ToLower(r.text[at:r.at]) != w {
		r.at = at // another length in lower case
		return 0, false
	}
	if r.at < len(r.text) && r.text[r.at] == '.' {
		r.at++
	}
	return set, true
}

// days reads "Mo–Fr", "Montag, Dienstag und Donnerstag", "Sonn- und Feiertage".
func (r *hoursReader) days() (set daySet, ok bool) {
	r.skip(";,|•·*")
	for r.take("jeden", "jeweils", "every", "an", "am", "and", "und", "sowie") {
		r.skip(" ")
	}
	for {
		first, found := r.day()
		if !found {
			return set, ok
		}
		at := r.at
		if r.dash() {
			if last, found := r.day(); found && oneDay(first) && oneDay(last) {
				first = between(first, last)
			} else {
				r.at = at
				if strings.HasPrefix(r.text[r.at:], "-") { // "Sonn- und Feiertage"
					r.at++
				}
			}
		}
		set, ok = set|first, true
		at = r.at
		r.skip(",/&+")
		r.take("und", "and", "sowie", "u")
		r.skip("")
		if _, found := dayWords[r.word()]; !found {
			r.at = at
			return set, true
		}
	}
}

func oneDay(s daySet) bool { return s&(s-1) == 0 && s != 1<<holiday }

// between returns the days from first to last, over the end of the week too.
func between(first, last daySet) daySet {
	set := first
	for d := first; d != last; {
		if d <<= 1; d == 1<<holiday {
			d = 1
		}
		set |= d
	}
	return set
}

// times reads what follows the days: spans of time, or that it is closed.
func (r *hoursReader) times() (spans []timeSpan, closed, ok bool) {
	r.skip(":|=,-–")
	r.take("von", "from", "ab", "open", "geöffnet", "jeweils")
	r.skip(":")
	if r.take("geschlossen", "closed", "ruhetag", "off") {
		return nil, true, true
	}
	for len(spans) < maxSpans {
		at := r.at
		s, found := r.span()
		if !found || len(spans) > 0 && s.from < spans[len(spans)-1].to || len(spans) > 0 && spans[len(spans)-1].to > 24*60 {
			r.at = at
			break
		}
		spans = append(spans, s)
		at = r.at
		r.skip(",/&|")
		r.take("und", "and", "sowie", "u")
		r.skip("")
		r.take("von", "from")
		r.skip("")
		if r.at == len(r.text) || r.text[r.at]-'0' > 9 {
			r.at = at
			break
		}
	}
	return spans, false, len(spans) > 0
}

// span reads "8–18 Uhr", "8.00 Uhr bis 18.00 Uhr", "9am - 5:30 p.m.".
func (r *hoursReader) span() (timeSpan, bool) {
	from, half, ok := r.time()
	if !ok || !r.dash() {
		return timeSpan{}, false
	}
	padded := r.at < len(r.text) && r.text[r.at] == '0' // of 24 hours
	to, half2, ok := r.time()
	if !ok {
		return timeSpan{}, false
	}
	switch {
	case half2 != 0 && half == 0 && from <= 12*60+59: // "9-5 pm", "1-5 pm"
		half = 'a'
		if half2 == 'p' && from%(12*60) < to%(12*60) || half2 == 'a' {
			half = half2
		}
	case half == 'a' && half2 == 0 && to <= from, half == 0 && half2 == 0 && !padded && to <= from && from <= 12*60 && to >= 4*60 && to <= 7*60: // "9am-5", "9-5"
		half2 = 'p'
	}
	from, to = clock(from, half), clock(to, half2)
	if to == 24*60-1 {
		to++ // "23:59"
	}
	if to <= from {
		to += 24 * 60
	}
	if from >= 24*60 || to > 24*60+12*60 || to-from > 24*60 || to-from < 10 {
		return timeSpan{}, false
	}
	return timeSpan{from, to}, true
}

// clock returns a time of one half of the day, 'a' or 'p', in 24 hours.
func clock(t int, half byte) int {
	switch {
	case half == 'a' && t >= 12*60 && t < 13*60:
		return t - 12*60
	case half == 'p' && t < 12*60:
		return t + 12*60
	}
	return t
}

// time reads "8", "8:30", "08.30 Uhr", "8h30", "9 a.m."; half is 'a', 'p' or 0.
func (r *hoursReader) time() (t int, half byte, ok bool) {
	hour, n := r.number()
	if n == 0 || n > 2 || hour > 24 {
		return 0, 0, false
	}
	t = hour * 60
	if r.at+2 < len(r.text) && strings.IndexByte(":.h", r.text[r.at]) >= 0 && r.text[r.at+1]-'0' <= 9 {
		r.at++
		minute, n := r.number()
		if n != 2 || minute > 59 || hour == 24 && minute > 0 {
			return 0, 0, false
		}
		t += minute
		if r.at+2 < len(r.text) && r.text[r.at] == ':' && r.text[r.at+1]-'0' <= 9 { // seconds
			r.at++
			if _, n := r.number(); n != 2 {
				return 0, 0, false
			}
		}
	}
	at := r.at
	r.skip("")
	if r.take("uhr", "h") {
		return t, 0, true
	}
	for _, m := range [...]string{"a.m.", "p.m.", "a.m", "p.m", "am", "pm"} {
		if len(r.text)-r.at >= len(m) && strings.EqualFold(r.text[r.at:r.at+len(m)], m) && (r.at+len(m) == len(r.text) || !isLetterAt(r.text, r.at+len(m))) {
			if t == 0 || t >= 13*60 {
				return 0, 0, false
			}
			r.at += len(m)
			return t, m[0], true
		}
	}
	r.at = at
	return t, 0, true
}

// number reads digits, at most 4.
func (r *hoursReader) number() (v, n int) {
	for r.at < len(r.text) && r.text[r.at]-'0' <= 9 && n < 4 {
		v = v*10 + int(r.text[r.at]-'0')
		r.at++
		n++
	}
	return v, n
}

// isDayLine tells whether a line holds days, with hours or without.
func isDayLine(line string) bool {
	r := hoursReader{text: line[:min(len(line), 80)]}
	if _, ok := r.days(); !ok {
		return false
	}
	r.skip(":|")
	if r.at == len(r.text) {
		return true
	}
	_, _, ok := r.times()
	return ok
}

// HoursIn returns the first opening hours in a text: where a line or the part
// behind its colon begins with them, or else in the middle of a line, "call us
// Monday to Friday 8am to 5pm". "" where there are none.
func HoursIn(text string) string {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		start := at
		if i := strings.IndexByte(line, ':'); i > 0 {
			if !isDayLine(line) {
				start = at + i + 1
			}
		}
		if osm, ok := ParseHours(text[start:]); ok {
			return osm
		}
		if osm := hoursWithin(text[at:], len(line)); osm != "" {
			return osm
		}
		at += len(line) + 1
	}
	return ""
}

// maxHoursTries bounds the places of one line where hours are looked for.
const maxHoursTries = 8

// hoursWithin returns opening hours from the middle of the first line of text,
// which has n bytes: at a day, "open Mon-Fri 9-5", or at times that days follow,
// "8am to 5pm PST, Monday - Friday".
func hoursWithin(text string, n int) string {
	line := text[:n]
	if !strings.ContainsAny(line, "0123456789") {
		return ""
	}
	if lower := strings.ToLower(line); strings.Contains(lower, "24 hours a day 7 days") || strings.Contains(lower, "24 hours a day, 7 days") || strings.Contains(lower, "24 hours 7 days") {
		return "Mo-Su 00:00-24:00"
	}
	tries := 0
	for i := 0; i < len(line) && tries < maxHoursTries; i++ {
		if i > 0 && (isLetterAt(line, lastRune(line, i)) || line[i-1]-'0' <= 9) {
			continue
		}
		r := hoursReader{text: line[i:min(len(line), i+maxHoursText)]}
		switch {
		case line[i]-'0' <= 9:
			if osm := r.timesThenDays(); osm != "" {
				return osm
			}
			tries++
		case dayWords[r.word()] != 0:
			if osm, ok := ParseHours(text[i:]); ok {
				return osm
			}
			tries++
		}
	}
	return ""
}

// timesThenDays reads "7:30 am to 5:30 pm (EST) Monday - Friday".
func (r *hoursReader) timesThenDays() string {
	span, ok := r.span()
	if !ok {
		return ""
	}
	r.skip(" (,")
	r.take("est", "cst", "mst", "pst", "edt", "cdt", "mdt", "pdt", "gmt", "bst", "cet", "eastern", "central", "mountain", "pacific")
	r.skip("")
	r.take("standard")
	r.skip("")
	r.take("time")
	r.skip(" (),")
	set, ok := r.days()
	if !ok {
		return ""
	}
	var h hours
	h.add(set, []timeSpan{span}, false)
	return h.String()
}
