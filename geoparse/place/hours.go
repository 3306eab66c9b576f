package place

import (
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/textutil"
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

// dayWords are the days as people write them, without the full stop of an abbreviation: "mo", "Mo", "MO".
// Those without days are the other words with which sevenDays, letterDays and closedOn begin.
var dayWords = func() map[string]daySet {
	m := map[string]daySet{
		"seven": 0, "sieben": 0, "zeven": 0, "every": 0, "each": 0, "jeden": 0, "tous": 0, "elke": 0, "iedere": 0,
		"alle": 0, "tutti": 0, "todos": 0, "m": 0, "t": 0, "w": 0,
		"täglich": 0x7f, "daily": 0x7f, "everyday": 0x7f, "dagelijks": 0x7f, "weekdays": 0x1f,
		"wochenende": 0x60, "weekend": 0x60, "weekends": 0x60, "werktags": 0x3f, "werktage": 0x3f,
		"wochentags": 0x1f, "sonn": 1 << sunday, // "Sonn- und Feiertage"
	}
	for i, names := range [days]string{
		"mo mon monday mondays montag montags lun lundi lunedì lunes maandag ma mandag",
		"tu di tue tues tuesday tuesdays dienstag dienstags mar mardi martedì martes dinsdag tirsdag",
		"we mi wed weds wednesday wednesdays mittwoch mittwochs mer mercredi mercoledì mié mie miércoles miercoles " +
			"wo woensdag onsdag",
		"th do thu thur thurs thursday thursdays donnerstag donnerstags jeu jeudi gio giovedì jue jueves " +
			"donderdag torsdag",
		"f fr fri friday fridays freitag freitags ven vendredi venerdì vie viernes vrijdag vr fredag",
		"sa sat saturday saturdays samstag samstags sonnabend sonnabends sam samedi sab sabato sáb sábado sábados " +
			"sabado zaterdag za lørdag",
		"su so sun sunday sundays sonntag sonntags dim dimanche dom domenica domingo domingos zondag zo søndag",
		"ph feiertag feiertage feiertags feiertagen PublicHolidays holidays",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = 1 << i
		}
	}
	for _, word := range closedWords {
		m[word] = 0
	}
	forms := maps.Clone(m)
	for word, set := range m {
		_, first := utf8.DecodeRuneInString(word)
		forms[strings.ToUpper(word)] = set
		forms[strings.ToUpper(word[:first])+word[first:]] = set
	}
	return forms
}()

// A timeSpan is in minutes since midnight; where it ends on the next day, to is
// more than 24 hours.
type timeSpan struct {
	from, to int
	noEnd    bool // only its start is stated
}

// byAppointment stands for no fixed time.
var byAppointment = timeSpan{from: -1, to: -1}

// hours are what is open on each day: nil where nothing is said, empty where it
// is closed.
type hours [days][]timeSpan

// ParseHours reads opening hours as German, English, French and Italian pages and
// schema.org write them and returns them as OpenStreetMap does, days of a week in order:
// "Mo-Fr 08:00-18:00; Sa 09:00-13:00; Su off". It reads its own result. ok is
// false where text does not begin with opening hours; what follows them is not
// looked at.
func ParseHours(text string) (osm string, ok bool) {
	h, ok := readHours(text)
	return h.String(), ok
}

// changing are parts of a map's opening hours by which they differ between weeks, or with the sun:
// "Nov-Mar off", "Mo[1]", "SH off", "08:00-sunset".
var changing = regexp.MustCompile(`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|week|easter|SH|` +
	`sunrise|sunset|dawn|dusk)\b|\[`)

// ParseMapHours is ParseHours for opening hours as OpenStreetMap has them. ok is false, too, where they
// are not those of every week.
func ParseMapHours(osm string) (hours string, ok bool) {
	if changing.MatchString(osm) {
		return "", false
	}
	return ParseHours(osm)
}

const (
	maxHoursText = 1000 // bytes
	maxSpans     = 4    // of a day
	maxTaken     = 160  // bytes between two words; matching takes longer the more text follows
)

func readHours(text string) (h hours, ok bool) {
	if allWeek.MatchString(text) {
		for d := range holiday {
			h[d] = []timeSpan{allDay}
		}
		return h, true
	}
	r := hoursReader{text[:min(len(text), maxHoursText)]}
	for {
		if ok {
			r.take(aside)
		}
		set, spans, found := r.rule()
		if !found || !h.add(set, spans) {
			break
		}
		ok = ok || len(spans) > 0 && spans[0] != byAppointment
	}
	if !ok {
		h = hours{}
	}
	return h, ok
}

// mostExceptions is how many days of those said before a later rule may change, "Mo-Fr 9-18,
// Mi geschlossen".
const mostExceptions = 2

// add says what is open on some days, no spans: closed. It is false where that
// contradicts what was said before: another list has begun.
func (h *hours) add(set daySet, spans []timeSpan) bool {
	said, contradicted := 0, 0
	for d := range days {
		if h[d] == nil {
			continue
		}
		said++
		if n := len(h[d]); set.has(d) && (len(spans) == 0 || n == 0 || n+len(spans) > maxSpans ||
			h[d][n-1].to > spans[0].from) {
			contradicted++
		}
	}
	changes := contradicted > 0
	if changes && (contradicted > mostExceptions || contradicted == said) {
		return false
	}
	for d := range days {
		if set.has(d) {
			if changes {
				h[d] = nil
			}
			h[d] = append(append([]timeSpan{}, h[d]...), spans...)
		}
	}
	return true
}

var allDay = timeSpan{from: 0, to: 24 * 60}

// String returns h in the syntax of the key opening_hours.
func (h hours) String() string {
	if !slices.ContainsFunc(h[:holiday], func(d []timeSpan) bool { return len(d) != 1 || d[0] != allDay }) {
		return "24/7"
	}
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
			spans = append(spans, s.String())
		}
		if spans == nil {
			spans = []string{"off"}
		}
		rules = append(rules, same.String()+" "+strings.Join(spans, ","))
	}
	return strings.Join(rules, "; ")
}

// String returns the span as "08:00-18:00", "17:00+" or "by appointment".
func (s timeSpan) String() string {
	from := fmt.Sprintf("%02d:%02d", s.from/60, s.from%60)
	switch {
	case s == byAppointment:
		return `"by appointment"`
	case s.noEnd:
		return from + "+"
	case s.to > 24*60:
		s.to -= 24 * 60
	}
	return fmt.Sprintf("%s-%02d:%02d", from, s.to/60, s.to%60)
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

// An Opening is a stretch of a week in which a place is open: its day, 0 is Monday and
// Holidays stands for public holidays, and minutes since that day's midnight. One past midnight
// ends after 24 * 60.
type Opening struct{ Day, From, To int }

// Holidays is the day of an Opening on public holidays.
const Holidays = holiday

// Week returns when opening hours, as ParseHours returns them, say that a place is
// open in a week, and on public holidays.
func Week(osm string) (open []Opening) {
	h, _ := readHours(osm)
	for day, spans := range h {
		for _, s := range spans {
			if s != byAppointment {
				open = append(open, Opening{day, s.from, s.to})
			}
		}
	}
	return open
}

// A State says whether a place is open at a time.
type State struct {
	Open  bool
	Until time.Time // when it closes; zero: not within a week, or not known
	Opens time.Time // of a closed one: when it opens next; zero: not within a week
	// Unsure: it is a public holiday, and the hours do not say what is then.
	Unsure bool
}

// At returns what opening hours, as ParseHours returns them, say of a time in the zone of the
// place. holiday reports public holidays; nil: none is known. ok is false where the hours cannot
// be read.
func At(osm string, t time.Time, holiday func(time.Time) bool) (s State, ok bool) {
	h, ok := readHours(osm)
	if !ok {
		return s, false
	}
	const ahead = 7 // days
	for day := -1; day <= ahead; day++ {
		date := time.Date(t.Year(), t.Month(), t.Day()+day, 12, 0, 0, 0, t.Location())
		spans := h[(int(date.Weekday())+6)%7]
		if holiday != nil && holiday(date) {
			spans = h[Holidays]
			s.Unsure = s.Unsure || day == 0 && spans == nil
		}
		for _, span := range spans {
			clock := func(minute int) time.Time {
				return time.Date(date.Year(), date.Month(), date.Day(), 0, minute, 0, 0, t.Location())
			}
			from, to := clock(span.from), clock(span.to)
			switch {
			case span == byAppointment:
			case s.Open && from.After(s.Until):
				return s, true
			case s.Open || !from.After(t) && t.Before(to):
				s.Open, s.Until = true, to
				if span.noEnd {
					s.Until = time.Time{}
					return s, true
				}
			case from.After(t):
				s.Opens = from
				return s, true
			}
		}
	}
	if s.Open && s.Until.Sub(t) > (ahead-1)*24*time.Hour {
		s.Until = time.Time{}
	}
	return s, true
}

// Weekday returns the day that a lower-case word names in English or German, 0 is
// Monday; ok is false where it names none or several.
func Weekday(word string) (day int, ok bool) {
	set := dayWords[word] &^ (1 << holiday)
	return bits.TrailingZeros8(uint8(set)), set != 0 && oneDay(set)
}

// closedWords are read before and after the days, "closed Mondays" and "Mondays closed".
var closedWords = strings.Fields("geschlossen geschl closed ruhetage ruhetag off fermé chiuso " +
	"cerrado gesloten lukket")

// timeLeads are words that may stand between days and times.
var timeLeads = strings.Fields("von from between zwischen ab open geöffnet geopend offen jeweils entre desde de " +
	"dalle van the hours of in der zeit zu den servicezeiten")

// What stands between days and times. All but the first three begin where the reader is. U+FFFD is
// what an unreadable dash leaves.
var (
	allWeek   = regexp.MustCompile(`^\s*24/7\s*$`)
	everyHour = regexp.MustCompile(`(?i)\b24 ?(?:/|x) ?7\b|open 24 h|` +
		`rund um die uhr (?:geöffnet|offen|für sie)|` +
		`\b24 ?(?:hours?|hrs?|h|stunden|std\.?)\b(?: a day| am tag)?[ ,/&-]*(?:an )?` +
		`(?:7|seven|365|sieben) ?(?:days|tage)`)
	isAvailable = regexp.MustCompile(`(?i)\bopen|hours?\b|stunden|geöffnet|offen`)
	notOpen     = regexp.MustCompile(`(?i)support|hotline|online|not(?:dienst|ruf|fall)|chat|answering|monitor|` +
		`surveil|securit|roadside|web|order|bestell|access|zugang|zutritt|emergenc|service|towing`)
	lead = regexp.MustCompile(`(?i)^[\s;,|•·*).–—-]*(?:(?:jeden|jeweils|every|each|elke|iedere|an|am|on|and|und|` +
		`sowie|en|le|il|du|dal|dalla|de|van|los)\s+|` +
		`(?:lunch|dinner|brunch|breakfast|mittags?|abends?|frühstück)\b[\s:]*)*`)
	dash = regexp.MustCompile(`(?i)^\s*(?:-?(?:bis|to|until|till|through|thru|au|alla|alle|al|a|t/m|tot en met|` +
		`tot|til)\b-?|[-–—‑−~à\x{fffd}])(?:\s*(?:zu|um)\b)?\s*`)
	// dayJoint goes on in the next line only behind a comma or with a word: else the days are columns.
	dayJoint = regexp.MustCompile(`(?i)^(?:[^\S\n]|[,/&+]\s*)*(?:\s*(?:und|and|sowie|et|en|e|y|og|u\.?)\s+)?` +
		`(?:(?:jeden|every|each|elke|iedere)\s+)?`)
	exceptDays = regexp.MustCompile(`(?i)^[\s,(]*(?:außer|ausser|except(?: on| for)?|excluding|sauf)\s+` +
		`(?:(?:le|an)\s+)?`)
	sevenDays = regexp.MustCompile(`(?i)^(?:(?:7|seven|sieben|zeven) (?:days|tage|dagen)|(?:every|each) day|` +
		`jeden tag|tous les jours|(?:elke|iedere) dag|alle dagen|tutti i giorni|todos los d[ií]as)` +
		`(?: (?:a|per|die|pro|in der|of the|van de) (?:week|woche))?\b`)
	letterDays = regexp.MustCompile(`^(M|T|Tu|W)\s?[-–]\s?(Th|F|Sa|Su)\b`)
	timeLead   = regexp.MustCompile(`(?i)^[\s:|=,(.…·_*–—-]*(?:(?:` + strings.Join(timeLeads, "|") +
		`)\b[\s:]*)*`)
	timeFrom    = regexp.MustCompile(`(?i)^[\s:|=,(–—-]*(?:(?:geöffnet|open)\s+)?(?:ab|from)\s+`)
	closed      = regexp.MustCompile(`(?i)^(?:` + strings.Join(closedWords, "|") + `|no (?:office )?hours)\.?`)
	closedDash  = regexp.MustCompile(`^[\s:]*[-–—]+[ \t]*(?:\n|$)`)
	closedOn    = regexp.MustCompile(closed.String() + `(?:\s+(?:on|am|le|il|los))?[\s:]+`)
	appointment = regexp.MustCompile(`(?i)^"?(?:nur )?(?:nach vereinbarung|by appointment|auf anfrage)` +
		`(?: only)?"?`)
	spanJoint = regexp.MustCompile(`(?i)^(?:[\s,/&|;·•]*|\s+[-–—]\s+)(?:(?:und|and|sowie|et|en|e|y|og|u\.?)\s+)?` +
		`(?:(?:von|from|de|dalle|van)\s+)?`)
	// aside is a line between those of two days, of what ends before the place closes.
	aside = regexp.MustCompile(`(?i)^[\s,;(|]*(?:(?:warme )?küche|kitchen|letzter einlass|kassenschluss|` +
		`last (?:entry|orders|admission))\b[^\n\d]*\d[^\n]*\n`)
	timeZone = regexp.MustCompile(`(?i)^[\s(]*(?:(?:eastern|central|mountain|pacific|local)` +
		`(?:\s+standard|\s+daylight)?(?:\s+time)?|[ecmp][sd]?t\b|gmt\b|bst\b|cet\b)\)?(?:\s*\([a-z]{2,4}\))?`)
	timeJoint = regexp.MustCompile(`(?i)^[\s(),:]*(?:(?:on|every|am|jeden)\s+)?`)
	pauseLead = regexp.MustCompile(`(?i)^[\s,;(]*(?:(?:mittagspause|pause|lunch(?: break)?|break|pausa|` +
		strings.Join(closedWords, "|") + `)(?: for lunch)?[\s:]+(?:von\s|from\s|de\s|between\s)?)?\s*`)
	pauseEnd = regexp.MustCompile(`(?i)^\s*(?:mittags?pause|pause|lunch|break|` + strings.Join(closedWords, "|") + `)`)
	// march is no "Mar" of Romance weeks.
	march = regexp.MustCompile(`(?i)^mar\.?\s*\d{1,2}(?:[^\d:.h]|$)`)
	// clockTime is a word, four digits, or hours with or without minutes.
	clockTime = regexp.MustCompile(`(?i)^(?:(?:12 ?)?(?:(noon|midday|mittags?)|(midnight|mitternacht))\b|` +
		`([01]\d|2[0-4])([0-5][05])(?: ?(?:h|hrs?|uhr|hours))?\b|` +
		`(\d{1,2})(?:[:.hu](\d{2}))?(?::\d{2})?(?:\s*(uhr|uur|[hu])\b|\s*([ap])\.?m\b\.?|([ap])\b)?)`)
)

// An hoursReader holds the text that is still to be read.
type hoursReader struct{ rest string }

// take passes over what re matches here and returns its groups; nil: nothing.
func (r *hoursReader) take(re *regexp.Regexp) []string {
	m := re.FindStringSubmatch(r.rest[:min(len(r.rest), maxTaken)])
	if m != nil {
		r.rest = r.rest[len(m[0]):]
	}
	return m
}

// rule reads days and times, "Mo-Fr 8-18 Uhr", times and days, "8am to 5pm PST, Monday -
// Friday", or "closed on Sundays"; where there is none, r stays where it is. No spans: closed.
func (r *hoursReader) rule() (set daySet, spans []timeSpan, ok bool) {
	start := *r
	number := leadingDigits(r.rest) > 0 && r.rest[0] != '7' // of "7 days"
	if !number {
		if !sevenDays.MatchString(r.rest[:min(len(r.rest), maxTaken)]) {
			r.take(lead)
		}
		set = r.days()
	}
	ok = true
	switch {
	case set != 0:
		spans, ok = r.times()
	case !number && r.take(closedOn) != nil:
		set = r.days()
	default:
		spans = r.spans()
		if len(spans) > 0 {
			r.take(timeJoint)
			set = r.days()
		}
	}
	set = r.butFor(set) // "Mo-Fr 9-18 Uhr außer Mi"
	ok = ok && set != 0
	if !ok {
		*r = start
	}
	return set, spans, ok
}

// firstWord returns the letters that text begins with.
func firstWord(text string) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, unicode.IsLetter))]
}

// smallDays are the short names that are written small where people speak a Romance language.
const smallDays = " lun mar mer mie jeu gio jue ven vie sam sab dim dom ma. di. wo. do. vr. za. zo. "

// day reads one name of a day; 0: none. Short ones need a capital letter, but for smallDays.
func (r *hoursReader) day() daySet {
	word := firstWord(r.rest)
	set, known := dayWords[word]
	if set == 0 && (known || word == "") && r.take(sevenDays) != nil {
		return 0x7f
	}
	first, _ := utf8.DecodeRuneInString(word)
	if set == 0 || len(word) <= 3 && !unicode.IsUpper(first) &&
		!strings.Contains(smallDays, " "+word+" ") &&
		!(strings.HasPrefix(r.rest[len(word):], ".") && strings.Contains(smallDays, " "+word+". ")) ||
		march.MatchString(r.rest[:min(len(r.rest), 12)]) {
		return 0
	}
	r.rest = strings.TrimPrefix(r.rest[len(word):], ".")
	return set
}

// days reads "Mo–Fr", "Montag, Dienstag und Donnerstag", "Sonn- und Feiertage", "daily except
// Monday", "M-F"; 0: none.
func (r *hoursReader) days() daySet {
	if len(firstWord(r.rest)) <= len("Tu") {
		m := r.take(letterDays)
		if m != nil {
			return between(letterDay[m[1]], letterDay[m[2]])
		}
	}
	return r.butFor(r.listedDays())
}

// butFor reads which of the days before it are excepted and returns the others.
func (r *hoursReader) butFor(set daySet) daySet {
	before := *r
	if set == 0 || r.take(exceptDays) == nil {
		return set
	}
	but := r.listedDays()
	if but == 0 {
		*r = before
	}
	return set &^ but
}

func (r *hoursReader) listedDays() (set daySet) {
	for {
		before := *r
		if set != 0 {
			r.take(dayJoint)
		}
		start := r.rest
		first := r.day()
		if first == 0 {
			*r = before
			return set
		}
		before = *r
		noDash := strings.HasSuffix(start[:len(start)-len(r.rest)], ".") // "Mon.Fri."
		if r.take(dash) != nil || noDash {
			last := r.day()
			if last != 0 && oneDay(first) && oneDay(last) {
				first = between(first, last)
			} else {
				r.rest = strings.TrimPrefix(before.rest, "-") // "Sonn- und Feiertage"
			}
		}
		set |= first
	}
}

func oneDay(s daySet) bool { return s&(s-1) == 0 && s != 1<<holiday }

// letterDay are the days of letterDays.
var letterDay = map[string]daySet{"M": 1, "T": 2, "Tu": 2, "W": 4, "Th": 8, "F": 16, "Sa": 32, "Su": 64}

// between returns the days from first to last, over the end of the week too.
func between(first, last daySet) daySet {
	set := first
	for d := first; d != last; {
		d <<= 1
		if d == 1<<holiday {
			d = 1
		}
		set |= d
	}
	return set
}

// times reads what follows the days: spans of time, or that it is closed.
func (r *hoursReader) times() (spans []timeSpan, ok bool) {
	if r.take(closedDash) != nil {
		return nil, true
	}
	start := *r
	if r.take(timeFrom) != nil {
		from, half, _, ok := r.time()
		if ok && r.take(dash) == nil {
			return []timeSpan{{clock(from, half), 24 * 60, true}}, from < 24*60
		}
		*r = start
	}
	r.take(timeLead)
	if r.take(closed) != nil {
		return nil, true
	}
	if r.take(appointment) != nil {
		return []timeSpan{byAppointment}, true
	}
	spans = r.spans()
	return spans, len(spans) > 0
}

// spans reads "8–12 und 14–18 Uhr", with the time zone.
func (r *hoursReader) spans() (spans []timeSpan) {
	for len(spans) < maxSpans {
		before := *r
		if spans != nil {
			from, to, found := r.pause()
			if found {
				spans = without(spans, from, to)
				continue
			}
			r.take(spanJoint)
		}
		s, plain, found := r.span()
		last := len(spans) - 1
		if found && last >= 0 && plain && s.from < spans[last].to && s.to <= 12*60 { // "9-12, 6-9"
			s.from, s.to = s.from+12*60, s.to+12*60
		}
		if !found || last >= 0 && (s.from < spans[last].to || spans[last].to > 24*60) {
			*r = before
			break
		}
		spans = append(spans, s)
	}
	if spans != nil {
		r.take(timeZone)
	}
	return spans
}

// pause reads "(12–13 Uhr geschlossen)", "lunch break 12-1", in minutes since midnight.
func (r *hoursReader) pause() (from, to int, ok bool) {
	start := *r
	said := strings.IndexFunc(r.take(pauseLead)[0], unicode.IsLetter) >= 0
	s, _, ok := r.span()
	ok = ok && (said || r.take(pauseEnd) != nil)
	if !ok {
		*r = start
		return 0, 0, false
	}
	r.rest = strings.TrimLeft(r.rest, " .)")
	return s.from, s.to, true
}

// without returns spans but for the time from from to to.
func without(spans []timeSpan, from, to int) (left []timeSpan) {
	for _, s := range spans {
		if to <= s.from || s.to <= from {
			left = append(left, s)
			continue
		}
		if s.from < from {
			left = append(left, timeSpan{from: s.from, to: from})
		}
		if to < s.to {
			left = append(left, timeSpan{to, s.to, s.noEnd})
		}
	}
	return left
}

// span reads "8–18 Uhr", "8.00 Uhr bis 18.00 Uhr", "9am - 5:30 p.m.", "17:00+"; plain reports
// whether nothing says which half of the day is meant.
func (r *hoursReader) span() (s timeSpan, plain, ok bool) {
	from, half, whole, ok := r.time()
	if !ok {
		return timeSpan{}, false, false
	}
	if strings.HasPrefix(r.rest, "+") && from < 24*60 {
		r.rest = r.rest[1:]
		return timeSpan{clock(from, half), 24 * 60, true}, false, true
	}
	lost := half != "" && r.rest != "" && r.rest[0]-'0' <= 9 // "8:30 a.m.5:30 p.m."
	if r.take(dash) == nil && !lost {
		return timeSpan{}, false, false
	}
	to, half2, whole2, ok := r.time()
	if !ok {
		return timeSpan{}, false, false
	}
	plain = half == "" && half2 == "" && !whole && !whole2
	half, half2 = halves(from, to, half, half2, plain)
	from, to = clock(from, half), clock(to, half2)
	if to == 24*60-1 {
		to++ // "23:59"
	}
	if to <= from {
		to += 24 * 60
	}
	ok = from < 24*60 && to <= 36*60 && to-from <= 24*60 && to-from >= 10
	return timeSpan{from: from, to: to}, plain, ok
}

// halves returns the halves of the day, "a", "p" or "" for 24 hours, that two times mean by what is
// said of one of them, or of plain ones, of none.
func halves(from, to int, half, half2 string, plain bool) (string, string) {
	const noon = 12 * 60
	switch {
	case half2 != "" && half == "" && from < noon+60: // "9-5 pm", "1-5 pm"
		if half2 == "p" && from%noon < to%noon || half2 == "a" {
			return half2, half2
		}
		return "a", half2
	case half == "a" && half2 == "" && to <= from, // "9am-5"
		half == "p" && half2 == "" && from%noon < to: // "1pm-5"
		return half, "p"
	case plain && to <= from && from < noon+60 && to >= 60 && to < 10*60: // "9-5"
		return half, "p"
	case plain && 60 <= from && from < 6*60 && from < to && to < noon: // "1-5"
		return "p", "p"
	}
	return half, half2
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

// time reads "8", "8:30", "08.30 Uhr", "8h30", "0830", "9 a.m.", "noon"; half is "a", "p" or "", and
// whole reports whether it is written as one of 24 hours.
func (r *hoursReader) time() (t int, half string, whole, ok bool) {
	padded := strings.HasPrefix(r.rest, "0")
	m := r.take(clockTime)
	switch {
	case m == nil || r.rest != "" && r.rest[0]-'0' <= 9 && m[8] == "":
		return 0, "", false, false
	case m[1] != "":
		return 12 * 60, "", false, true
	case m[2] != "":
		return 24 * 60, "", false, true
	}
	hour, _ := strconv.Atoi(m[3] + m[5])
	minute, _ := strconv.Atoi(m[4] + m[6])
	t, half = 60*hour+minute, strings.ToLower(m[8]+m[9])
	ok = minute < 60 && t <= 24*60 && (half == "" || t > 0 && t < 13*60)
	return t, half, padded || m[3] != "" || m[7] != "", ok
}

// isDayLine reports whether a line holds days, with hours or without.
func isDayLine(line string) bool {
	r := hoursReader{line[:min(len(line), 80)]}
	r.take(lead)
	if r.days() == 0 {
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
	leastOffice   = 8 * 60  // minutes of a week that no teacher's office hours have
	cueText       = 200     // bytes before hours that say what they are
	mostShows     = 2       // days of a week on which a show begins: "Di und Do ab 20 Uhr"
)

// HoursIn returns the first opening hours that begin in text[from:to], where from
// may lie within their list of days: at the start of a line or in the middle, "call
// us Monday to Friday 8am to 5pm". Times of a course or service are none: what is
// open for a short time or on one day must be called so. "" where there are none.
func HoursIn(text string, from, to int) string {
	from = listStart(text, from)
	always := ""
	for at := from; at < to; {
		line, _, _ := strings.Cut(text[at:to], "\n")
		osm, leaveOut := hoursWithin(text, at, at+len(line))
		open := alwaysOpen(line)
		switch {
		case (open || osm == "24/7") && strings.Contains(line, "24") &&
			notOpen.MatchString(neighbours(text, at, at+len(line))): // "Access", and in the next line "24/7"
		case osm != "" || leaveOut:
			return osm
		case open:
			always = "24/7"
		}
		at += len(line) + 1
	}
	return always
}

// IsHoursPage reports whether a page is one of opening hours by its title or path.
func IsHoursPage(title, path string) bool {
	return hoursPages.In(title + " " + path)
}

var hoursPages = textutil.NewLexicon(Phrases("hours-pages")...)

// neighbours returns the lines above and below the line text[from:to].
func neighbours(text string, from, to int) string {
	above := strings.TrimRight(text[:from], " \n")
	below := strings.TrimLeft(text[to:], " \n")
	below, _, _ = strings.Cut(below, "\n")
	return above[strings.LastIndexByte(above, '\n')+1:] + "\n" + below
}

// alwaysOpen reports whether a line says that a place is open day and night.
func alwaysOpen(line string) bool {
	if !strings.Contains(line, "24") && !strings.Contains(line, "und um") && !strings.Contains(line, "UND UM") {
		return false // most lines, for less than everyHour costs
	}
	isOpen := len(line) <= len("open 24/7") || isAvailable.MatchString(line)
	return isOpen && everyHour.MatchString(line) && !notOpen.MatchString(line)
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
// "open Mon-Fri 9-5", or at times that days follow. leaveOut: they cannot be told, as those
// of a season and days as the columns of a table, nor can what follows them.
func hoursWithin(text string, from, to int) (osm string, leaveOut bool) {
	line := text[from:to]
	if len(line) > shortLine && !strings.ContainsAny(line, "0123456789") {
		return "", false
	}
	tries := 0
	for i := 0; i < len(line) && tries < maxHoursTries; i++ {
		if isLetterBefore(line, i) || i > 0 && line[i-1]-'0' <= 9 {
			continue
		}
		mayBe := line[i]-'0' <= 9 && beginsSpan(text[from+i:])
		if line[i]-'0' > 9 {
			if !isLetterAt(line, i) {
				continue
			}
			word := firstWord(line[i:])
			if !beginsHours(word) {
				i += len(word) - 1 // most words, for less than the expressions below cost
				continue
			}
			r := hoursReader{text[from+i : min(len(text), from+i+maxTaken)]}
			set := r.days()
			if set == 0 && !closedOn.MatchString(line[i:]) {
				continue
			}
			if set != 0 && r.isColumn() {
				return "", true
			}
			mayBe = set == 0 || r.mayBeTimes()
		}
		tries++
		if !mayBe {
			continue
		}
		h, ok := readHours(text[from+i:])
		before := text[max(0, from-cueText) : from+i]
		if ok && (season.MatchString(before) || seasonBehind.MatchString(line[i:])) {
			return "", true
		}
		if ok && h.opens(before) {
			return h.String(), false
		}
	}
	return "", false
}

// beginsHours reports whether a word is that of a day, or one with which hours begin.
func beginsHours(word string) bool {
	_, begins := dayWords[word]
	return begins
}

// beginsSpan reports whether a number may be the time with which a span begins, by what is behind it: a
// dash, a word that stands for one, or one of times. Most numbers are none.
func beginsSpan(text string) bool {
	n := leadingDigits(text)
	if n == 3 || n > 4 {
		return false // a postcode, a part of a telephone number
	}
	rest := text[n:]
	for range 2 { // minutes, seconds
		if len(rest) > 2 && strings.IndexByte(":.hHuU", rest[0]) >= 0 && leadingDigits(rest[1:3]) == 2 {
			rest = rest[3:]
		}
	}
	rest = strings.TrimLeft(rest, " \t\n")
	return text[0] == '7' || // "7 days"
		rest != "" && (rest[0] >= utf8.RuneSelf || strings.IndexByte("-~+abhmnptu", rest[0]|' ') >= 0)
}

// leadingDigits returns how many digits a text begins with.
func leadingDigits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// isColumn reports whether other days than those read stand in the next line or cell.
func (r hoursReader) isColumn() bool { return r.take(nextCell) != nil && r.days() != 0 }

// mayBeTimes reports whether the next word, or what is none, may be where times begin: behind a day in
// running text it is not, for less than the expressions of times cost.
func (r hoursReader) mayBeTimes() bool {
	word := firstWord(strings.TrimLeft(r.rest, " \n\t:|=,(.…·_*"))
	return word == "" || timesBegin[strings.ToLower(word)]
}

// timesBegin are the words with which times begins: timeLeads, and those of closed, appointment and clockTime.
var timesBegin = func() map[string]bool {
	m := map[string]bool{}
	for _, word := range slices.Concat(timeLeads, closedWords, strings.Fields("no nur nach by auf "+
		"noon midday midnight mittag mittags mitternacht")) {
		m[word] = true
	}
	return m
}()

const month = `(?:jan|feb|mär|mar|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc])[a-zä]*\.?`

// months is a part of the year.
const months = `\b` + month + `\s*(?:[-–—]|bis|to|through|until|à|al?)\s*` + month

var (
	openCue = regexp.MustCompile(`(?i)öffnungs|geöffnet|\bopen|(?:business|store|shop|visiting) hours|` +
		`ouvert|horaires|\borari|\bapert|horario|openings(?:tijd|uren)|geopend|åbningstid|sprechzeit|bürozeit`)
	// season ends what says that the hours are not those of the whole year.
	season = regexp.MustCompile(`(?i)(?:` + months + `|(?:sommer|winter|summer)(?:zeit|halbjahr|saison|monate|` +
		`öffnungszeiten| hours| season)?|(?:weihnachts|oster|sommer|schul)ferien|(?:christmas|holiday|new year\S*)` +
		` (?:week|hours|season))[\s:,()]*$`)
	seasonBehind = regexp.MustCompile(`(?i)^[^\n(]*\d[^\n\d(]*\([^)\n]*(?:` + months + `|sommer|winter|summer|` +
		`saison|season|ferien)|^[^\n]*\d[^\d\n]{0,20}` + months)
	nextCell  = regexp.MustCompile(`^[ \t:]*[|\n]\s*`)
	courseCue = regexp.MustCompile(`(?i)\b(?:class|lecture|course|seminar|workshop|lesson|tutorial|webinar|` +
		`kurs|vorlesung|übung|gottesdienst|training|advising|help ?desk|warenannahme|anlieferung|lieferzeit|` +
		`telefonzeit|telefonsprech|telefonische)|\(telefon\)`)
	officeCue = regexp.MustCompile(`(?i)\boffice hours\b`)
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
			if !s.noEnd || daily >= mostShows {
				open += s.to - s.from // 0 by appointment
			}
		}
		daily += min(len(spans), 1)
	}
	least := leastOpen
	if officeCue.MatchString(before) {
		least = leastOffice
	}
	return open >= least && daily > 1 && !courseCue.MatchString(before)
}
