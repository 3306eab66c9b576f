package hours

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/internal/textutil"
)

// IsDayLine reports whether a line holds days, with hours or without, behind a label or none.
func IsDayLine(line string) bool {
	label, days, _ := strings.Cut(line, ": ")
	return startsWithDays(line) || len(label) < mostLabel && startsWithDays(days)
}

// mostLabel is the length in bytes of the label of a line of hours.
const mostLabel = 30

func startsWithDays(line string) bool {
	r := reader{rest: line[:min(len(line), 80)]}
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
	maxTries    = 8       // places of one line where hours are looked for
	shortLine   = 40      // bytes of a line of days whose times may stand in the next
	listedDays  = 8       // lines of a list of days
	leastOpen   = 12 * 60 // minutes of a week that no course or service has
	leastOffice = 8 * 60  // minutes of a week that no teacher's office hours have
	cueText     = 200     // bytes before hours that say what they are
	mostShows   = 2       // days of a week on which a show begins: "Di und Do ab 20 Uhr"
)

// In returns the first opening hours that begin in text[from:to], where from
// may lie within their list of days: at the start of a line or in the middle, "call
// us Monday to Friday 8am to 5pm". Times of a course or service are none: what is
// open for a short time or on one day must be called so. "" where there are none.
func In(text string, from, to int) string {
	from = listStart(text, from)
	always := ""
	for at := from; at < to; {
		line, _, _ := strings.Cut(text[at:to], "\n")
		osm, leaveOut, end := within(text, at, at+len(line))
		open := alwaysOpen(line)
		switch {
		case (open || osm == "24/7") && strings.Contains(line, "24") &&
			notOpen.MatchString(neighbours(text, at, at+len(line))): // "Access", and in the next line "24/7"
		case osm != "" || leaveOut:
			return osm
		case open:
			always = "24/7"
		}
		at = max(at+len(line)+1, end)
	}
	return always
}

// neighbours returns the lines above and below the line text[from:to].
func neighbours(text string, from, to int) string {
	above := strings.TrimRight(text[:from], " \n")
	below := strings.TrimLeft(text[to:], " \n")
	below, _, _ = strings.Cut(below, "\n")
	return above[strings.LastIndexByte(above, '\n')+1:] + "\n" + below
}

// What says that a place is open day and night, and what says that something else is.
var (
	everyHour = regexp.MustCompile(`(?i)\b24 ?(?:/|x) ?7\b|open 24 h|` +
		`rund um die uhr (?:geöffnet|offen|für sie)|` +
		`\b24 ?(?:hours?|hrs?|h|stunden|std\.?)\b(?: a day| am tag)?[ ,/&-]*(?:an )?` +
		`(?:7|seven|365|sieben) ?(?:days|tage)`)
	isAvailable = regexp.MustCompile(`(?i)\bopen|hours?\b|stunden|geöffnet|offen`)
	notOpen     = regexp.MustCompile(`(?i)support|hotline|online|not(?:dienst|ruf|fall)|chat|answering|monitor|` +
		`surveil|securit|roadside|web|order|bestell|access|zugang|zutritt|emergenc|service|towing`)
)

// alwaysOpen reports whether a line says that a place is open day and night.
func alwaysOpen(line string) bool {
	if !strings.Contains(line, "24") && !strings.Contains(line, "und um") && !strings.Contains(line, "UND UM") {
		return false // most lines, for less than everyHour costs
	}
	isOpen := len(line) <= len("open 24/7") || isAvailable.MatchString(line)
	return isOpen && everyHour.MatchString(line) && !notOpen.MatchString(line)
}

// listStart returns where the line at i begins, or the list of days that it is in, whose times may stand in
// lines of their own.
func listStart(text string, i int) int {
	i = strings.LastIndexByte(text[:i], '\n') + 1
	start := i
	for range 2 * listedDays {
		if i == 0 {
			break
		}
		above := strings.LastIndexByte(text[:i-1], '\n') + 1
		line := text[above : i-1]
		switch {
		case IsDayLine(line):
			start = above
		case !isTimesLine(line):
			return start
		}
		i = above
	}
	return start
}

// isTimesLine reports whether a line has times alone, or says that a place is closed.
func isTimesLine(line string) bool {
	r := reader{rest: line[:min(len(line), 80)]}
	if r.take(closed) != nil || r.take(closedDash) != nil {
		return strings.Trim(r.rest, " .") == "" // no "Office"
	}
	return leadingDigits(line) > 0 && len(r.spans()) > 0
}

// within returns opening hours that begin in the line text[from:to]: at a day,
// "open Mon-Fri 9-5", or at times that days follow. leaveOut: they cannot be told, as those
// of a season and days as the columns of a table, nor can what follows them. end is where a list of a course
// or service ends, of which the next lines are a part, too; else 0.
func within(text string, from, to int) (osm string, leaveOut bool, end int) {
	line := text[from:to]
	if len(line) > shortLine && !strings.ContainsAny(line, "0123456789") {
		return "", false, 0
	}
	tries := 0
	for i := 0; i < len(line) && tries < maxTries; i++ {
		if textutil.LetterBefore(line, i) || i > 0 && line[i-1]-'0' <= 9 {
			continue
		}
		mayBe := line[i]-'0' <= 9 && (beginsSpan(text[from+i:]) || isNthNumber(line[i:])) &&
			!monthBefore.MatchString(line[max(0, i-len("September ")):i])
		if line[i]-'0' > 9 {
			if !textutil.LetterAt(line, i) {
				continue
			}
			word := firstWord(line[i:])
			_, begins := dayWords[withoutPart(word)]
			if !begins {
				i += len(word) - 1 // most words, for less than the expressions below cost
				continue
			}
			r := reader{rest: text[from+i : min(len(text), from+i+maxTaken)]}
			other := r.isEveryOther()
			set := r.days()
			if set == 0 && other {
				return "", true, 0
			}
			if set == 0 && !closedOn.MatchString(line[i:]) {
				continue
			}
			if set != 0 && r.isColumn() {
				return "", true, 0
			}
			mayBe = set == 0 || r.mayBeTimes()
		}
		tries++
		if !mayBe {
			continue
		}
		h, rest, ok := read(text[from+i:])
		before := text[max(0, from-cueText) : from+i]
		if ok && (h.saysMore(rest) || season.MatchString(before) || seasonBehind.MatchString(line[i:]) ||
			someWeeks.MatchString(before) || tariff.MatchString(rest)) {
			return "", true, 0
		}
		lead := line[i : i+max(0, strings.IndexAny(line[i:], "0123456789"))] // "Saturdays, open from"
		if ok && (openBehind.MatchString(rest) || h.opens(before+lead)) {
			return h.String(), false, 0
		}
		if ok && rest != "" && courseCue.MatchString(cueLines(before)) {
			return "", false, min(len(text), from+i+maxText) - len(rest)
		}
	}
	return "", false, 0
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

// isNthNumber reports whether a text begins with the number of a day in a month: "1st Saturday", "1. Samstag".
func isNthNumber(text string) bool {
	r := reader{rest: text[:min(len(text), mostNth)]}
	return leadingDigits(text) == 1 && r.nthDays() != 0
}

// leadingDigits returns how many digits a text begins with.
func leadingDigits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// isColumn reports whether other days than those read stand in the next line or cell.
func (r reader) isColumn() bool { return r.take(nextCell) != nil && r.days() != 0 }

// mayBeTimes reports whether the next word, or what is none, may be where times begin: behind a day in
// running text it is not, for less than the expressions of times cost.
func (r reader) mayBeTimes() bool {
	word := firstWord(strings.TrimLeft(r.rest, " \n\t:|=,(.…·_*"))
	return word == "" || timesBegin[strings.ToLower(word)]
}

// timesBegin are the words with which times begins: timeLeads, and those of dayPart, closed, appointment and
// clockTime.
var timesBegin = func() map[string]bool {
	m := map[string]bool{}
	for _, word := range slices.Concat(timeLeads, dayPartWords, closedWords,
		strings.Fields("no nur nach by auf sur su op "+
			"noon midday midnight mittag mittags mitternacht")) {
		m[word] = true
	}
	return m
}()

const month = `(?:jan|feb|mär|mar|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc])[a-zä]*\.?`

// months is a part of the year: "Mai bis September", "1. Mai - 31. Oktober", "May 1 to Oct 31", "1.4.-31.10.".
const months = `(?:\b` + month + `\s*(?:\d{1,2}\s*)?` + toMonth + `(?:\d{1,2}\.?\s*)?` + month + `(?:\s*\d{1,2}\b)?|` +
	`\b\d{1,2}\.\s?\d{1,2}\.\s*` + toMonth + `\d{1,2}\.\s?\d{1,2}\.)`

// monthName is a month, and daysOfMonth some of its days: "June 17-21", "17. bis 21. Juni".
const (
	monthName = `(?:jan(?:uar|uary)?|feb(?:ruar|ruary)?|märz?|mar(?:ch)?|apr(?:il)?|ma[iy]|jun[ei]?|jul[iy]?|` +
		`aug(?:ust)?|sept?(?:ember)?|o[kc]t(?:ober)?|nov(?:ember)?|de[zc](?:ember)?)\.?`
	daysOfMonth = `\b` + monthName + ` \d{1,2} ?[-–] ?\d{1,2}|\b\d{1,2}\. ?(?:[-–]|bis) ?\d{1,2}\. ?` + monthName
)

// monthBefore ends what stands before days of a month, which are no hours: "June 17-21, Monday-Friday".
var monthBefore = regexp.MustCompile(`(?i)\b` + monthName + ` $`)

// otherWeeks is what says that something is not so in each week.
const otherWeeks = `every other|alternat(?:e|ing)|14[ -]?täg\pL*|alle (?:zwei|2|drei|3|vier|4) wochen|` +
	`\b(?:un)?gerader? (?:kw|(?:kalender)?wochen?)|om de (?:week|twee weken)|fortnightly|bi-?weekly`

const toMonth = `(?:[-–—]|bis|to|through|until|à|al?)\s*`

var (
	openCue = regexp.MustCompile(`(?i)öffnung|geöffnet|\bopen|(?:business|store|shop|visiting) hours|` +
		`hours of operation|` +
		`ouvert|horaires|\borari|\bapert|horario|openings(?:tijd|uren)|geopend|åbningstid|sprechzeit|bürozeit`)
	// openBehind ends a sentence: "Our shop is, from 2 to 6 on Fridays, open" in German and the like.
	openBehind = regexp.MustCompile(`(?i)^[\s,]*(?:für (?:sie|euch) )?(?:geöffnet|ouvert|geopend)(?:[^\pL]|$)`)
	// season ends what says that the hours are not those of the whole year.
	season = regexp.MustCompile(`(?i)(?:` + months + `|` + daysOfMonth + `|\bi[nm] ` + month +
		`|(?:spring|fall|autumn) hours|(?:sommer|winter|summer)(?:zeit|halbjahr|saison|monate|` +
		`öffnungszeiten| hours| season)?|(?:weihnachts|oster|sommer|schul)ferien|(?:christmas|holiday|new year\S*)` +
		` (?:week|hours|season))(?:\s*\([^()\n]*\))?[\s:,()]*$`)
	// someWeeks ends what says that the hours are not those of each week.
	someWeeks    = regexp.MustCompile(`(?i)(?:` + otherWeeks + `)[\s:,(]*$`)
	seasonBehind = regexp.MustCompile(`(?i)^[^\n(]*\d[^\n\d(]*\([^)\n]*(?:` + months + `|sommer|winter|summer|` +
		`saison|season|ferien|` + otherWeeks + `|im monat|of the month|jeden? ` + nthWord.String() + `)|` +
		`^[^\n]*\d[^\d\n]{0,20}` + months)
	// tariff is behind times for which a price holds: "Monday to Thursday: 9am-6pm @ £5 per hour".
	tariff = regexp.MustCompile(`(?i)^(?: ?uhr)?[\s:=(]*(?:@ ?|à ?)?(?:[£$€] ?\d[\d.,]*|\d[\d.,]* ?(?:€|eur|chf))` +
		`[^\n]{0,3}(?:per|an?|/|pro|je|die) ?(?:hour|hr|h\b|std|stunde)`)
	nextCell  = regexp.MustCompile(`^[ \t:]*[|\n]\s*`)
	courseCue = regexp.MustCompile(`(?i)\b(?:class|lecture|course|seminar|workshop|lesson|tutorial|webinar|` +
		`kurs|vorlesung|übung|gottesdienst|training|(?:ferien|summer ?|sommer)camp|specials|` +
		`happy ?hour|breakfast|frühstück|ontbijt|colazione|petit[ -]déjeuner|` +
		`advising|walk-?in (?:counsel|advi)|(?:academic|graduate|peer|student) (?:counsel|advis)|` +
		`studienberatung|availability|verfügbarkeit|beschikbaarheid|help ?desk|warenannahme|anlieferung|lieferzeit|` +
		`telefonzeit|telefonsprech|telefonisch|` +
		`anrufzeit)|\(telefon\)|(?:^|\n)(?:wann|when) ?[?:]`)
	officeCue = regexp.MustCompile(`(?i)\boffice hours\b`)
)

// cueLines returns the last lines of the text before hours, which say what they are.
func cueLines(before string) string {
	lines := strings.Split(before, "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "\n")
}

// opens reports whether h are rather opening hours than the times of a course: by
// what they add up to, and by the words before them, in their line and the one
// above.
func (h week) opens(before string) bool {
	before = cueLines(before)
	if openCue.MatchString(before) {
		return true
	}
	open, daily := 0, 0
	for _, spans := range h[:days] {
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
