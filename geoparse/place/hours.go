package place

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
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

func (s daySet) has(day int) bool { return s&(1<<day) != 0 }

// dayWords are the days as people write them, in lower case without the full
// stop of an abbreviation.
var dayWords = func() map[string]daySet {
	m := map[string]daySet{
		"täglich": 0x7f, "daily": 0x7f, "everyday": 0x7f, "weekdays": 0x1f,
		"wochenende": 0x60, "weekend": 0x60, "weekends": 0x60,
		"sonn": 1 << sunday, // "Sonn- und Feiertage"
	}
	for i, names := range [days]string{
		"mo mon monday mondays montag montags",
		"tu di tue tues tuesday tuesdays dienstag dienstags",
		"we mi wed wednesday wednesdays mittwoch mittwochs",
		"th do thu thur thurs thursday thursdays donnerstag donnerstags",
		"fr fri friday fridays freitag freitags",
		"sa sat saturday saturdays samstag samstags sonnabend sonnabends",
		"su so sun sunday sundays sonntag sonntags",
		"ph feiertag feiertage feiertags feiertagen publicholidays holidays",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = 1 << i
		}
	}
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
	return h.String(), ok
}

const (
	maxHoursText = 1000 // bytes
	maxSpans     = 4    // of a day
	maxDayWord   = 16   // bytes
)

func readHours(text string) (h hours, ok bool) {
	if allWeek.MatchString(text) {
		for d := range holiday {
			h[d] = []timeSpan{{0, 24 * 60}}
		}
		return h, true
	}
	r := hoursReader{text[:min(len(text), maxHoursText)]}
	for {
		set, spans, found := r.rule()
		if !found || !h.add(set, spans) {
			break
		}
		ok = ok || len(spans) > 0
	}
	if !ok {
		h = hours{}
	}
	return h, ok
}

// add says what is open on some days, no spans: closed. It is false where that
// contradicts what was said before: another list has begun.
func (h *hours) add(set daySet, spans []timeSpan) bool {
	for d := range days {
		if !set.has(d) || h[d] == nil {
			continue
		}
		n := len(h[d])
		if len(spans) == 0 || n == 0 || h[d][n-1].to > spans[0].from || n+len(spans) > maxSpans {
			return false
		}
	}
	for d := range days {
		if set.has(d) {
			h[d] = append(append([]timeSpan{}, h[d]...), spans...)
		}
	}
	return true
}

// String returns h in the syntax of the key opening_hours.
func (h hours) String() string {
	var rules []string
	var done daySet
	for d := range days {
		if done.has(d) || h[d] == nil {
			continue
		}
		var same daySet
		for e := d; e < days; e++ {
			if h[e] != nil && slices.Equal(h[e], h[d]) {
				same |= 1 << e
			}
		}
		done |= same
		var spans []string
		for _, s := range h[d] {
			to := s.to
			if to > 24*60 {
				to -= 24 * 60
			}
			spans = append(spans, fmt.Sprintf("%02d:%02d-%02d:%02d", s.from/60, s.from%60, to/60, to%60))
		}
		if spans == nil {
			spans = []string{"off"}
		}
		rules = append(rules, same.String()+" "+strings.Join(spans, ","))
	}
	return strings.Join(rules, "; ")
}

// String returns the days as "Mo-Fr,Su,PH".
func (s daySet) String() string {
	var names []string
	for d := 0; d < days; d++ {
		if !s.has(d) {
			continue
		}
		name, last := dayNames[d], d
		for last < sunday && s.has(last+1) {
			last++
		}
		if last > d {
			name += "-" + dayNames[last]
			d = last
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
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

// What stands between days and times. All but daySign begin where the reader is.
var (
	allWeek   = regexp.MustCompile(`^\s*24/7\s*$`)
	everyHour = regexp.MustCompile(`(?i)24 hours(?: a day)?,? ?7 ?days`)
	lead      = regexp.MustCompile(`(?i)^[\s;,|•·*]*(?:(?:jeden|jeweils|every|an|am|on|and|und|sowie)\s+)*`)
	dash      = regexp.MustCompile(`(?i)^\s*(?:[-–—‑−]|(?:bis|to|until|till|through|thru)\b)\s*`)
	dayJoint  = regexp.MustCompile(`(?i)^[\s,/&+]*(?:(?:und|and|sowie|u\.?)\s+)?`)
	timeLead  = regexp.MustCompile(`(?i)^[\s:|=,(–—-]*(?:(?:von|from|between|zwischen|ab|open|geöffnet|jeweils|` +
		`in|der|zeit|zu|den|servicezeiten)\b[\s:]*)*`)
	closed    = regexp.MustCompile(`(?i)^(?:geschlossen|closed|ruhetag|off)`)
	spanJoint = regexp.MustCompile(`(?i)^[\s,/&|]*(?:(?:und|and|sowie|u\.?)\s+)?(?:(?:von|from)\s+)?`)
	timeZone  = regexp.MustCompile(`(?i)^[\s(]*(?:(?:eastern|central|mountain|pacific|local)` +
		`(?:\s+standard|\s+daylight)?(?:\s+time)?|[ecmp][sd]?t\b|gmt\b|bst\b|cet\b)\)?(?:\s*\([a-z]{2,4}\))?`)
	timeJoint = regexp.MustCompile(`^[\s(),]*`)
	clockTime = regexp.MustCompile(`(?i)^(\d{1,2})(?:[:.h](\d{2}))?(?::\d{2})?` +
		`(?:\s*(?:uhr|h)\b|\s*([ap])\.?m\b\.?|([ap])\b)?`)
)

// An hoursReader holds the text that is still to be read.
type hoursReader struct{ rest string }

// take passes over what re matches here and returns its groups; nil: nothing.
func (r *hoursReader) take(re *regexp.Regexp) []string {
	m := re.FindStringSubmatch(r.rest)
	if m != nil {
		r.rest = r.rest[len(m[0]):]
	}
	return m
}

// rule reads days and times, "Mo-Fr 8-18 Uhr", or times and days, "8am to 5pm PST,
// Monday - Friday"; where there is none, r stays where it is. No spans: closed.
func (r *hoursReader) rule() (set daySet, spans []timeSpan, ok bool) {
	start := *r
	r.take(lead)
	if set, ok = r.days(); ok {
		spans, ok = r.times()
	} else if spans = r.spans(); len(spans) > 0 {
		r.take(timeJoint)
		set, ok = r.days()
	}
	if !ok {
		*r = start
	}
	return set, spans, ok
}

// day reads one name of a day. Short ones need a capital letter.
func (r *hoursReader) day() (daySet, bool) {
	word := r.rest
	if n := strings.IndexFunc(word, func(c rune) bool { return !unicode.IsLetter(c) }); n >= 0 {
		word = word[:n]
	}
	if len(word) < 2 || len(word) > maxDayWord {
		return 0, false
	}
	set, ok := dayWords[strings.ToLower(word)]
	if first, _ := utf8.DecodeRuneInString(word); !ok || len(word) <= 3 && !unicode.IsUpper(first) {
		return 0, false
	}
	r.rest = strings.TrimPrefix(r.rest[len(word):], ".")
	return set, true
}

// days reads "Mo–Fr", "Montag, Dienstag und Donnerstag", "Sonn- und Feiertage".
func (r *hoursReader) days() (set daySet, ok bool) {
	for {
		before := *r
		if ok {
			r.take(dayJoint)
		}
		first, found := r.day()
		if !found {
			*r = before
			return set, ok
		}
		before = *r
		if r.take(dash) != nil {
			if last, found := r.day(); found && oneDay(first) && oneDay(last) {
				first = between(first, last)
			} else {
				r.rest = strings.TrimPrefix(before.rest, "-") // "Sonn- und Feiertage"
			}
		}
		set, ok = set|first, true
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
func (r *hoursReader) times() (spans []timeSpan, ok bool) {
	r.take(timeLead)
	if r.take(closed) != nil {
		return nil, true
	}
	spans = r.spans()
	return spans, len(spans) > 0
}

// spans reads "8–12 und 14–18 Uhr", with the time zone.
func (r *hoursReader) spans() (spans []timeSpan) {
	for len(spans) < maxSpans {
		before := *r
		if spans != nil {
			r.take(spanJoint)
		}
		s, found := r.span()
		if last := len(spans) - 1; !found || last >= 0 && (s.from < spans[last].to || spans[last].to > 24*60) {
			*r = before
			break
		}
		spans = append(spans, s)
	}
	r.take(timeZone)
	return spans
}

// span reads "8–18 Uhr", "8.00 Uhr bis 18.00 Uhr", "9am - 5:30 p.m.".
func (r *hoursReader) span() (timeSpan, bool) {
	from, half, ok := r.time()
	if !ok || r.take(dash) == nil {
		return timeSpan{}, false
	}
	padded := strings.HasPrefix(r.rest, "0") // of 24 hours
	to, half2, ok := r.time()
	if !ok {
		return timeSpan{}, false
	}
	noHalves := half == "" && half2 == "" && !padded
	switch {
	case half2 != "" && half == "" && from <= 12*60+59: // "9-5 pm", "1-5 pm"
		half = "a"
		if half2 == "p" && from%(12*60) < to%(12*60) || half2 == "a" {
			half = half2
		}
	case half == "a" && half2 == "" && to <= from, // "9am-5"
		noHalves && to <= from && from <= 12*60 && to >= 4*60 && to <= 7*60: // "9-5"
		half2 = "p"
	}
	from, to = clock(from, half), clock(to, half2)
	if to == 24*60-1 {
		to++ // "23:59"
	}
	if to <= from {
		to += 24 * 60
	}
	ok = from < 24*60 && to <= 36*60 && to-from <= 24*60 && to-from >= 10
	return timeSpan{from, to}, ok
}

// clock returns a time of one half of the day, "a" or "p", in 24 hours.
func clock(t int, half string) int {
	switch {
	case half == "a" && t >= 12*60 && t < 13*60:
		return t - 12*60
	case half == "p" && t < 12*60:
		return t + 12*60
	}
	return t
}

// time reads "8", "8:30", "08.30 Uhr", "8h30", "9 a.m."; half is "a", "p" or "".
func (r *hoursReader) time() (t int, half string, ok bool) {
	m := r.take(clockTime)
	if m == nil || r.rest != "" && r.rest[0]-'0' <= 9 {
		return 0, "", false
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	t, half = 60*hour+minute, strings.ToLower(m[3]+m[4])
	ok = minute < 60 && t <= 24*60 && (half == "" || t > 0 && t < 13*60)
	return t, half, ok
}

// isDayLine reports whether a line holds days, with hours or without.
func isDayLine(line string) bool {
	r := hoursReader{line[:min(len(line), 80)]}
	r.take(lead)
	if _, ok := r.days(); !ok {
		return false
	}
	if strings.Trim(r.rest, " \t:|") == "" {
		return true
	}
	_, ok := r.times()
	return ok
}

const (
	maxHoursTries = 8       // places of one line where hours are looked for
	shortLine     = 40      // bytes of a line of days whose times may stand in the next
	listedDays    = 8       // lines of a list of days
	leastOpen     = 12 * 60 // minutes of a week that no course or service has
	cueText       = 200     // bytes before hours that say what they are
)

// HoursIn returns the first opening hours that begin in text[from:to], where from
// may lie within their list of days: at the start of a line or in the middle, "call
// us Monday to Friday 8am to 5pm". Times of a course or service are none: what is
// open for a short time or on one day must be called so. "" where there are none.
func HoursIn(text string, from, to int) string {
	from = listStart(text, from)
	for at := from; at < to; {
		line, _, _ := strings.Cut(text[at:to], "\n")
		if osm := hoursWithin(text, at, at+len(line)); osm != "" {
			return osm
		}
		at += len(line) + 1
	}
	return ""
}

// listStart returns where the line at i begins, or the list of days that it is in.
func listStart(text string, i int) int {
	i = strings.LastIndexByte(text[:i], '\n') + 1
	for range listedDays {
		above := strings.LastIndexByte(text[:max(i-1, 0)], '\n') + 1
		if i == 0 || !isDayLine(text[above:i-1]) {
			break
		}
		i = above
	}
	return i
}

// hoursWithin returns opening hours that begin in the line text[from:to]: at a day,
// "open Mon-Fri 9-5", or at times that days follow.
func hoursWithin(text string, from, to int) string {
	line := text[from:to]
	if !strings.ContainsAny(line, "0123456789") && len(line) > shortLine {
		return ""
	}
	if everyHour.MatchString(line) {
		return "Mo-Su 00:00-24:00"
	}
	tries := 0
	for i := 0; i < len(line) && tries < maxHoursTries; i++ {
		if i > 0 && (isLetterAt(line, lastRune(line, i)) || line[i-1]-'0' <= 9) {
			continue
		}
		if line[i]-'0' > 9 {
			r := hoursReader{line[i:]}
			if _, ok := r.day(); !ok {
				continue
			}
		}
		tries++
		if h, ok := readHours(text[from+i:]); ok && h.opens(text[max(0, from-cueText):from+i]) {
			return h.String()
		}
	}
	return ""
}

var (
	openCue = regexp.MustCompile(`(?i)öffnungs|geöffnet|\bopen|(?:business|store|shop|visiting) hours|` +
		`sprechzeit|bürozeit`)
	courseCue = regexp.MustCompile(`(?i)\b(?:class|lecture|course|seminar|workshop|lesson|tutorial|webinar|` +
		`kurs|vorlesung|übung|gottesdienst|training)`)
)

// opens reports whether h are rather opening hours than the times of a course: by
// what they add up to, and by the words before them, in their line and the one
// above.
func (h hours) opens(before string) bool {
	lines := strings.Split(before, "\n")
	before = strings.Join(lines[max(0, len(lines)-3):], "\n")
	if openCue.MatchString(before) {
		return true
	}
	open, daily := 0, 0
	for _, spans := range h {
		if spans != nil && len(spans) == 0 {
			return true // only places are closed
		}
		for _, s := range spans {
			open += s.to - s.from
		}
		daily += min(len(spans), 1)
	}
	return open >= leastOpen && daily > 1 && !courseCue.MatchString(before)
}
