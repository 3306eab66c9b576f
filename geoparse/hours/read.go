package hours

import (
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/textutil"
)

const (
	maxText  = 1000 // bytes
	maxSpans = 4    // of a day
	maxTaken = 160  // bytes between two words; matching takes longer the more text follows
)

// read reads the hours with which text begins; rest is what it cannot read, from the next word on.
func read(text string) (h week, rest string, ok bool) {
	if allWeek.MatchString(text) {
		for d := range Holidays {
			h[d] = []timeSpan{allDay}
		}
		return h, "", true
	}
	r := reader{rest: text[:min(len(text), maxText)]}
	var last timeSpan
	for {
		if ok {
			r.closedHalf(&h)
			r.take(aside)
			r.endsOtherwise(&h, last)
		}
		set, spans, found := r.rule()
		if !found && ok && r.skipUntold(&h) {
			continue
		}
		if !found {
			break
		}
		if r.take(otherTimes) != nil {
			continue
		}
		if r.letters && set == 1<<1 && h.says(set) && !h.says(1<<3) {
			set = 1 << 3 // the second T of "M 8-5 T 8-5 W 8-5 T 8-5"
		}
		if !h.add(set, spans) {
			r.rest = "" // another list
			break
		}
		if len(spans) > 0 && spans[0] != byAppointment {
			ok, last = true, spans[0]
		}
	}
	if !ok {
		return week{}, "", false
	}
	return h, r.rest, true
}

// saysMore reports whether a line goes on with one of the days of h, of which it must say something that
// read cannot tell: "Mo-Fr 9-18 Uhr, Mi nur vormittags".
func (h week) saysMore(rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	r := reader{rest: line}
	r.take(lead)
	return h.says(r.days())
}

// closedHalf reads that some days of h are closed in the morning or afternoon, "(Mi nachmittags geschlossen)"; where
// nothing says so, r stays where it is. Of days of one span over noon nothing is known then.
func (r *reader) closedHalf(h *week) {
	start := *r
	r.take(lead)
	said := r.take(closedOn) != nil // "closed Wednesday afternoons"
	set := r.days()
	half := r.take(halfDay)
	if set == 0 || half == nil || !said && r.take(closed) == nil {
		*r = start
		return
	}
	const lateMorning = noon + 2*60 // the end of a morning
	for d := range days {
		if !set.has(d) {
			continue
		}
		var left []timeSpan
		for _, s := range h[d] {
			if s.from < noon && s.to > lateMorning {
				left = nil // it does not say when its half ends
				break
			}
			if (half[1] != "") == (s.from >= noon) {
				left = append(left, s)
			}
		}
		h[d] = left
	}
	r.rest = strings.TrimPrefix(r.rest, ")")
}

// endsOtherwise reads that some days of h end earlier or later than was said, "(Mi nur bis 13 Uhr)", or
// that others begin as the last ones and end at another time, "Fr bis 16 Uhr"; where nothing says so, r stays
// where it is.
func (r *reader) endsOtherwise(h *week, last timeSpan) {
	start := *r
	r.take(lead)
	set := r.days()
	to, half, ok := 0, "", set != 0 && r.take(onlyUntil) != nil
	if ok {
		to, half, _, ok = r.time()
		to = clock(to, half)
	}
	if ok && half == "" && to <= last.from && to <= 12*60 { // "8-5, Fri until 3"
		to += 12 * 60
	}
	if ok && !h.says(set) && last.from < to {
		h.add(set, []timeSpan{{from: last.from, to: to}})
		return
	}
	for d := range h {
		ok = ok && (!set.has(d) || len(h[d]) > 0 && h[d][0] != byAppointment && h[d][0].from < to)
	}
	if !ok {
		*r = start
		return
	}
	for d := range h {
		if set.has(d) {
			h[d] = without(h[d], to, 36*60)
			last := &h[d][len(h[d])-1]
			last.to, last.noEnd = to, false
		}
	}
}

// Bounds of what a list says of a day that is no hours.
const (
	mostUntold      = 60 // bytes
	mostUntoldParts = 3  // lines, or parts of one between commas
)

// skipUntold passes over a day of a list of which something else is said, "Mittwoch: Hausbesuche", and
// reports whether the list goes on with another day.
func (r *reader) skipUntold(h *week) bool {
	next := *r
	next.take(lead)
	set := next.days()
	at := strings.IndexAny(next.rest, "0123456789")
	if set == 0 || h.says(set) || at < 0 || at > mostUntold {
		return false
	}
	untold := next.rest[:at]
	for range mostUntoldParts {
		end := strings.IndexAny(untold, "\n,;|")
		if end < 0 {
			return false
		}
		untold, next.rest = untold[end+1:], next.rest[end+1:]
		day := next
		others, _, ok := day.rule()
		if ok && others&set == 0 && !h.says(others) {
			*r = next
			return true
		}
	}
	return false
}

// says reports whether h says something of one of the days.
func (h *week) says(set daySet) bool {
	for d := range h {
		if set.has(d) && h[d] != nil {
			return true
		}
	}
	return false
}

// closedWords are read before and after the days, "closed Mondays" and "Mondays closed".
var closedWords = strings.Fields("geschlossen geschl closed ruhetage ruhetag off fermé chiuso " +
	"cerrado gesloten lukket")

// dayPartWords name a part of the day, which the times behind them tell better.
var dayPartWords = strings.Fields("vormittags vormittag nachmittags nachmittag abends abend morgens mattina mattino " +
	"pomeriggio matin ochtend middag avond mañana tarde mornings morning afternoons afternoon evenings evening")

// dayParts also takes "Afternoon/Evening:".
var (
	dayPartName = `(?:` + strings.Join(dayPartWords, "|") + `)\b`
	dayParts    = dayPartName + `(?: ?[/&] ?` + dayPartName + `)?[\s:]*`
)

// timeLeads are words that may stand between days and times.
var timeLeads = strings.Fields("von from between zwischen ab open geöffnet geopend offen jeweils entre desde de " +
	"dalle ore van the hours of in der zeit zu den servicezeiten durchgehend zusätzlich auch also anche")

// otherHours are times of a surgery that are not all of its hours.
const otherHours = `(?:offene|akut|telefon|telefonische|video|notfall)[ -]?sprechstunden?|telefonzeit(?:en)?|` +
	`telefonisch|blut(?:ent|ab)nahmen?|labor`

// What stands between days and times, from where the reader is. U+FFFD is what an unreadable dash
// leaves.
var (
	allWeek = regexp.MustCompile(`^\s*24/7\s*$`)
	lead    = regexp.MustCompile(`(?i)^[\s;,|/&+•·*().–—-]*(?:(?:jeden|jeweils|every|each|elke|iedere|an|am|on|` +
		`op|and|und|sowie|en|le|il|du|dal|dalla|de|van|los)\s+|` +
		`(?:lunch|dinner|brunch|breakfast|mittags?|abends?|frühstück)\b[\s:]*)*`)
	about = regexp.MustCompile(`(?i)^-ish\b`) // "9pm-ish"
	// openEnd is where no time ends the hours of a bar.
	openEnd = regexp.MustCompile(`(?i)^(?:late|close|closing(?: time)?|open[ -]?end|ende|schluss)\b`)
	dash    = regexp.MustCompile(`(?i)^\s*(?:-?(?:bis|to|until|till|through|thru|au|alla|alle|al|a|t/m|tot en met|` +
		`tot|til|['’]til)\b-?|[-–—‑−~à\x{fffd}])(?:\s*(?:zu|um|ore)\b)?\s*`)
	// dayJoint goes on in the next line only behind a comma or with a word: else the days are columns.
	dayJoint = regexp.MustCompile(`(?i)^(?:[^\S\n]|[,/&+]\s*)*(?:\s*(?:und|and|sowie|et|en|e|y|og|u\.?)\s+)?` +
		`(?:(?:jeden|every|each|elke|iedere)\s+)?`)
	exceptDays = regexp.MustCompile(`(?i)^[\s,(]*(?:außer|ausser|except(?: on| for)?|excluding|sauf)\s+` +
		`(?:(?:le|an)\s+)?`)
	sevenDays = regexp.MustCompile(`(?i)^(?:(?:7|seven|sieben|zeven) (?:days|tage|dagen)|` +
		`7 ?j(?:ours)? ?(?:/|sur) ?7|(?:every|each) day|` +
		`jeden tag|tous les jours|(?:elke|iedere) dag|alle dagen|tutti i giorni|todos los d[ií]as)` +
		`(?: (?:a|per|die|pro|in der|of the|van de) (?:week|woche))?\b`)
	// nthOf stands before a day of which only some of a month are meant: "every first and third".
	nthOf = regexp.MustCompile(`(?i)^[\s;,|/&+•·*().–—-]*` +
		`(?:(` + strings.Join(eachWords, "|") + `)\s+)?(?:(?:` + strings.Join(theWords, "|") + `)\s+)*` +
		`(` + nthWord.String() +
		`(?:(?:\s*[,&+/]\s*|\s+(?:and|und|et|e|y|en|u\.)\s+)(?:(?:the|den|der|le|la|il|el|de)\s+)?` +
		nthWord.String() + `)*)\s+`)
	nthWord = regexp.MustCompile(`(?i)\b(?:` + strings.Join(slices.Sorted(maps.Keys(nthWords)), "|") +
		`|([1-5])(?:st|nd|rd|th|er|e|ème|de|ste|[º°ª.]))`)
	// nthBrackets stand behind the day in the syntax of OpenStreetMap: "Sa[1,3]".
	nthBrackets = regexp.MustCompile(`^\[((?:-1|[1-5])(?:,(?:-1|[1-5]))*)\]`)
	ofTheMonth  = regexp.MustCompile(`(?i)^[\s,]*(?:(?:of|in) (?:the|each|every|a) month|im monat|` +
		`(?:des|eines|jeden) (?:jeden )?monats|(?:du|de chaque) mois|(?:del|di ogni) mese|(?:del|de cada) mes|` +
		`van (?:de|elke|iedere) maand)\b`)
	// letterDays is how lists begin in which one letter is a day.
	letterDays = regexp.MustCompile(`^(?:(?:M|Tu?|W)\s?[-–]\s?(?:Th|F|Sa|Su)|` +
		`(?:M|Tu?|W|Th)(?:\s?[,/&]\s?|\s?and\s)(?:Tu?|W|Th|F|Sa|Su)|` +
		`[MTW]:?\s\d[\dapm:. –-]{2,20}[\s,;|]\s?(?:Tu?|W|Th))\b`) // "M 8-5 T 8-5"
	// fromLunes are Spanish days of one letter, of a week that begins on Monday: "L-V".
	fromLunes = regexp.MustCompile(`^L\s?(?:[-–]|a)\s?([JVSD])\b`)
	timeLead  = regexp.MustCompile(`(?i)^[\s:|=,(.…·_*–—-]*(?:(?:` + strings.Join(timeLeads, "|") +
		`)\b[\s:]*)*`)
	dayPart = regexp.MustCompile(`(?i)^` + dayParts)
	// halfDay is the morning, its first group, or the afternoon.
	halfDay = regexp.MustCompile(`(?i)^[\s:]*(?:am\s)?(?:(vormittags?|mornings?|ochtend|mattina|matin)|` +
		`(?:nachmittags?|afternoons?|middag|pomeriggio|après-midi))\b[\s:]*`)
	// betweenTimes are times of which the second stands behind "and".
	betweenTimes = regexp.MustCompile(`(?i)^[\s:|=,(–—-]*(?:between|zwischen)\s+(\d[^\n]{0,9}?)\s+(?:and|und)\s+`)
	timeFrom     = regexp.MustCompile(`(?i)^[\s:|=,(–—-]*(?:(?:geöffnet|open)\s+)?(?:ab|from)\s+`)
	closed       = regexp.MustCompile(`(?i)^(?:` + strings.Join(closedWords, "|") + `|no (?:office )?hours)\.?`)
	closedDash   = regexp.MustCompile(`^[\s:]*[-–—]+[ \t]*(?:\n|$)`)
	closedOn     = regexp.MustCompile(closed.String() + `(?:\s+(?:on|am|le|il|los))?[\s:]+`)
	appointment  = regexp.MustCompile(`(?i)^"?(?:nur )?(?:nach (?:tel\.|telefonischer )?\s?(?:termin)?vereinbarung|` +
		`nach absprache|auf anfrage|by appointment|sur rendez-vous|su appuntamento|op afspraak)(?: only)?"?`)
	spanJoint = regexp.MustCompile(`(?i)^(?:\s+[-–—]\s+|[\s,/&|;·•.+]*)` +
		`(?:(?:und|and|sowie|et|en|e|y|og|u\.?)\s+)?` +
		`(?:` + dayParts + `)?(?:(?:von|from|de|dalle|van)\s+)?`)
	// onlyUntil ends days earlier or later than others of the list, "(Mi nur bis 13 Uhr)".
	onlyUntil = regexp.MustCompile(`(?i)^[\s:]*(?:(?:nur|only|alleen|solo)\s+)?(?:bis|until|'?till?|tot|fino alle)\s+`)
	// aside is a line between those of two days, of what ends before the place closes, or a remark on one:
	// "(nur mit Termin)".
	aside = regexp.MustCompile(`(?i)^[\s,;(|]*(?:(?:warme )?küche|kitchen|letzter einlass|kassenschluss|` +
		otherHours + `|last (?:entry|orders|admission))\b[^\n\d]*\d[^\n]*\n|^ *\([^()\n\d]{1,40}\)`)
	// otherTimes says behind times that they are those of something else.
	otherTimes = regexp.MustCompile(`(?i)^[ \t,;:(–—-]*(?:nur )?(?:` + otherHours + `)\b\)?`)
	timeZone   = regexp.MustCompile(`(?i)^[\s(]*(?:(?:eastern|central|mountain|pacific|local)` +
		`(?:\s+standard|\s+daylight)?(?:\s+time)?|[ecmp][sd]?t\b|gmt\b|bst\b|cet\b|durchgehend\b)\)?` +
		`(?:\s*\([a-z]{2,4}\))?`)
	timeJoint = regexp.MustCompile(`(?i)^[\s(),:]*(?:(?:on|every|am|jeden|von|from)\s+)?`)
	pauseLead = regexp.MustCompile(`(?i)^[\s,;(]*(?:(?:mittagspause|pause|lunch(?: break)?|break|pausa|` +
		strings.Join(closedWords, "|") + `)(?: for lunch)?[\s:]+(?:von\s|from\s|de\s|between\s)?)?\s*`)
	pauseEnd = regexp.MustCompile(`(?i)^\s*(?:mittags?pause|pause|lunch|break|` + strings.Join(closedWords, "|") + `)`)
	// march is no "Mar" of Romance weeks.
	march = regexp.MustCompile(`(?i)^mar\.?\s*\d{1,2}(?:[^\d:.h]|$)`)
	// clockTime is a word, four digits, or hours with or without minutes.
	clockTime = regexp.MustCompile(`(?i)^(?:(?:12 ?)?(?:(noon|midday|mittags?)|(midnight|mitternacht))\b|` +
		`([01]\d|2[0-4])([0-5][05])(?: ?(?:h|hrs?|uhr|hours))?\b|` +
		`(\d{1,2})(?:(?:[:.hu]| ?h ?)(\d{2}))?(?::\d{2})?(?:\s*(uhr|uur|hrs|[hu])\b|\s*([ap])\.?m\b\.?|([ap])\b)?)`)
)

// nthWords are words for days of a month, by how many days of that name are before them.
var nthWords = func() map[string]int {
	m := map[string]int{}
	for n, words := range [ordinals]string{
		"first ersten erster erste premier premiers primo prima primer eerste",
		"second zweiten zweiter zweite deuxième secondo seconda segundo tweede",
		"third dritten dritter dritte troisième terzo terza tercer derde",
		"fourth vierten vierter vierte quatrième quarto quarta cuarto vierde",
		"fifth fünften fünfter",
		"last letzten letzter letzte dernier ultimo ultima último laatste",
	} {
		for word := range strings.FieldsSeq(words) {
			m[word] = n
		}
	}
	return m
}()

// Words with which nthOf may begin otherwise.
var (
	eachWords = strings.Fields("every each jede jeden jedem jeder jedes elke iedere ogni chaque cada")
	theWords  = strings.Fields("the den der am an on op le les la il el los de het")
)

// A reader holds the text that is still to be read.
type reader struct {
	rest    string
	letters bool // one letter may be a day
}

// take passes over what re matches here and returns its groups; nil: nothing. A word ends before no letter, also before
// "ß", of which \b knows nothing: "Außerhalb" has no French "au".
func (r *reader) take(re *regexp.Regexp) []string {
	m := re.FindStringSubmatch(r.rest[:min(len(r.rest), maxTaken)])
	if m == nil {
		return nil
	}
	end := len(m[0])
	inWord := end < len(r.rest) && r.rest[end] >= utf8.RuneSelf && textutil.LetterBefore(r.rest, end)
	if inWord && textutil.LetterAt(r.rest, end) {
		return nil
	}
	r.rest = r.rest[end:]
	return m
}

// isNext reports whether re matches here.
func (r *reader) isNext(re *regexp.Regexp) bool {
	return re.MatchString(r.rest[:min(len(r.rest), maxTaken)])
}

// rule reads days and times, "Mo-Fr 8-18 Uhr", times and days, "8am to 5pm PST, Monday -
// Friday", or "closed on Sundays"; where there is none, r stays where it is. No spans: closed.
func (r *reader) rule() (set daySet, spans []timeSpan, ok bool) {
	start := *r
	nth := r.takeNth() != nil
	*r = start
	number := leadingDigits(r.rest) > 0 && r.rest[0] != '7' && !nth // of "7 days"
	if !number {
		if !nth && !r.isNext(sevenDays) {
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
			r.take(timeLead)
			ok = r.take(closed) == nil // "10-18 Uhr, montags geschlossen"
		}
	}
	set = r.butFor(set) // "Mo-Fr 9-18 Uhr außer Mi"
	ok = ok && set != 0
	if !ok {
		*r = start
	}
	return set, spans, ok
}

// withoutPart returns a day to which a part of it is joined without that, "Mittwoch" of "Mittwochnachmittag".
func withoutPart(word string) string {
	for _, part := range joinedParts {
		day, joined := strings.CutSuffix(word, part)
		if joined && dayWords[day] != 0 {
			return day
		}
	}
	return word
}

var joinedParts = strings.Fields("vormittag vormittags nachmittag nachmittags abend abends ochtend middag avond")

// firstWord returns the letters that text begins with.
func firstWord(text string) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, unicode.IsLetter))]
}

// smallDays are the short names that are written small where people speak a Romance language or Dutch.
const smallDays = " lun mar mer mie jeu gio jue ven vie sam sab dim dom ma di wo do vr za zo "

// day reads one name of a day, or one of letterDay in a list of them; 0: none. Short ones need a capital letter,
// but for smallDays.
func (r *reader) day() daySet {
	word := firstWord(r.rest)
	word = withoutPart(word)
	set, known := dayWords[word]
	if r.letters && set == 0 {
		set = letterDay[word]
	}
	if set == 0 && (known || word == "") && r.take(sevenDays) != nil {
		return 0x7f
	}
	first, _ := utf8.DecodeRuneInString(word)
	if set == 0 || len(word) <= 3 && !unicode.IsUpper(first) &&
		!strings.Contains(smallDays, " "+word+" ") ||
		march.MatchString(r.rest[:min(len(r.rest), 12)]) {
		return 0
	}
	r.rest = strings.TrimPrefix(r.rest[len(word):], ".")
	return set
}

// days reads "Mo–Fr", "Montag, Dienstag und Donnerstag", "Sonn- und Feiertage", "daily except
// Monday", "M-F", "M, W, F", "Tu-Th, Sa", "L-V"; 0: none.
func (r *reader) days() daySet {
	if strings.HasPrefix(r.rest, "L") {
		if m := r.take(fromLunes); m != nil {
			return r.butFor(between(1, untilLetter[m[1]]))
		}
	}
	r.letters = r.letters || len(firstWord(r.rest)) <= len("Tu") && r.isNext(letterDays)
	return r.butFor(r.listedDays())
}

// butFor reads which of the days before it are excepted and returns the others.
func (r *reader) butFor(set daySet) daySet {
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

// listedDays reads days, "Mo-Mi, Fr".
func (r *reader) listedDays() (set daySet) {
	for {
		before := *r
		if set != 0 {
			r.take(dayJoint)
		}
		listed := r.dashedDays() | r.nthDays()
		if listed != 0 {
			set |= listed
			continue
		}
		start := r.rest
		first := r.bracketed(r.day())
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

// nthDays reads "every first and third Saturday of the month"; 0: none. "Every second Saturday" may be every
// other one.
func (r *reader) nthDays() (set daySet) {
	start := *r
	m := r.takeNth()
	if m == nil {
		return 0
	}
	day := r.day()
	which := nthWord.FindAllStringSubmatch(m[2], -1)
	ofMonth := r.take(ofTheMonth) != nil
	for _, word := range which {
		n, isWord := nthWords[strings.ToLower(word[0])]
		if !isWord {
			n = int(word[1][0] - '1')
		}
		set |= nthOfDay(day, n)
	}
	everyOther := set == nthOfDay(day, 1) && m[1] != "" && !ofMonth
	if !isWeekday(day) || everyOther {
		*r = start
		return 0
	}
	return set
}

// bracketed reads which days of a month are meant behind their name, "Sa[1,3]", else returns day.
func (r *reader) bracketed(day daySet) (set daySet) {
	m := r.take(nthBrackets)
	if m == nil || !isWeekday(day) {
		return day
	}
	for number := range strings.SplitSeq(m[1], ",") {
		n, _ := strconv.Atoi(number)
		if n < 0 {
			n += ordinals + 1 // the last
		}
		set |= nthOfDay(day, n-1)
	}
	return set
}

// nthOfDay returns the nth one of a weekday in a month, as nthDay has it.
func nthOfDay(day daySet, n int) daySet { return 1 << nthDay(bits.TrailingZeros64(uint64(day)), n) }

// mostNth is how many bytes a list of some days of a month has.
const mostNth = 60

// takeNth is take(nthOf), where the next word may begin that, for less than the expression costs.
func (r *reader) takeNth() []string {
	next := strings.TrimLeftFunc(r.rest[:min(len(r.rest), mostNth)], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	word := strings.ToLower(firstWord(next))
	_, known := nthWords[word]
	known = known || slices.Contains(eachWords, word) || slices.Contains(theWords, word)
	if !known && leadingDigits(next) != 1 {
		return nil
	}
	return r.take(nthOf)
}

// isEveryOther reports whether every other day of a name may be meant here, "every second Saturday".
func (r reader) isEveryOther() bool {
	return r.takeNth() != nil && r.day() != 0
}

// dashedDays reads at least three days with a dash behind each but the last, "Mo-Di-Do"; 0: none.
func (r *reader) dashedDays() (set daySet) {
	start, n := *r, 0
	for more := true; more; n++ {
		day := r.day()
		if day == 0 || !oneDay(day) {
			break
		}
		set |= day
		more = r.take(dash) != nil
	}
	if n < 3 {
		*r = start
		return 0
	}
	return set
}

func oneDay(s daySet) bool { return s&(s-1) == 0 && s != 1<<Holidays }

func isWeekday(s daySet) bool { return s != 0 && oneDay(s) }

// letterDay are the days of one letter that dayWords has not. T is Tuesday, and no end of "M-T".
var letterDay = map[string]daySet{"M": 1, "T": 2, "W": 4}

// untilLetter are the days with which fromLunes ends.
var untilLetter = map[string]daySet{"J": 1 << 3, "V": 1 << 4, "S": 1 << 5, "D": 1 << sunday}

// between returns the days from first to last, over the end of the week too.
func between(first, last daySet) daySet {
	set := first
	for d := first; d != last; {
		d <<= 1
		if d == 1<<Holidays {
			d = 1
		}
		set |= d
	}
	return set
}

// times reads what follows the days: spans of time, or that it is closed.
func (r *reader) times() (spans []timeSpan, ok bool) {
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
	if between := r.take(betweenTimes); between != nil {
		r.rest = between[1] + "-" + r.rest // "between 9am and 5pm"
	}
	r.take(timeLead)
	part := r.take(dayPart) != nil
	if part {
		r.take(timeLead)
	}
	if r.take(closed) != nil {
		return nil, !part // "Freitag nachmittags geschlossen" is no whole day
	}
	if r.take(appointment) != nil {
		return []timeSpan{byAppointment}, true
	}
	spans = r.spans()
	return spans, len(spans) > 0
}

// spans reads "8–12 und 14–18 Uhr", with the time zone.
func (r *reader) spans() (spans []timeSpan) {
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
		if found && last >= 0 && s.from >= noon && spans[last].from < noon && spans[last].to == 24*60 {
			spans[last].to = noon // "8:30 to 12:00 AM and 3 to 7 PM"
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
func (r *reader) pause() (from, to int, ok bool) {
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

const noon = 12 * 60

// longestNight is how many minutes a place may be open over midnight: "12-11 Uhr" is a slip.
const longestNight = 20 * 60

// span reads "8–18 Uhr", "8.00 Uhr bis 18.00 Uhr", "9am - 5:30 p.m.", "17:00+", "4pm - late"; plain reports
// whether nothing says which half of the day is meant.
func (r *reader) span() (s timeSpan, plain, ok bool) {
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
	if r.take(openEnd) != nil && from < 24*60 {
		if half == "" && !whole && from < 9*60 { // "6 - late"
			half = "p"
		}
		return timeSpan{clock(from, half), 24 * 60, true}, false, true
	}
	to, half2, whole2, ok := r.time()
	if !ok {
		return timeSpan{}, false, false
	}
	r.take(about)
	plain = half == "" && half2 == "" && !whole && !whole2
	half, half2 = halves(from, to, half, half2, plain)
	from, to = clock(from, half), clock(to, half2)
	if to == 24*60-1 {
		to++ // "23:59"
	}
	if to <= from {
		to += 24 * 60
		if to-from > longestNight {
			return timeSpan{}, false, false
		}
	}
	ok = from < 24*60 && to <= 36*60 && to-from <= 24*60 && to-from >= 10
	return timeSpan{from: from, to: to}, plain, ok
}

// halves returns the halves of the day, "a", "p" or "" for 24 hours, that two times mean by what is
// said of one of them, or of plain ones, of none.
func halves(from, to int, half, half2 string, plain bool) (string, string) {
	switch {
	case half2 != "" && half == "" && from < noon+60: // "9-5 pm", "1-5 pm"
		if half2 == "p" && from%noon < to%noon || half2 == "a" {
			return half2, half2
		}
		return "a", half2
	case half == "a" && half2 == "" && to <= from, // "9am-5"
		half == "p" && half2 == "" && from%noon < to: // "1pm-5"
		return half, "p"
	case plain && to <= from && from < noon+60 && to >= 60 && to < noon: // "9-5", "11-10"
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
func (r *reader) time() (t int, half string, whole, ok bool) {
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
