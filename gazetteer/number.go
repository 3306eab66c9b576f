package gazetteer

import (
	"strconv"
	"strings"
)

// NumberKey folds a house number: "12 a", "12A" and "12-a" are "12a", "7 – 15"
// is "7-15", "No. 5" is "5", "226 ½" is "226 1/2". It is idempotent.
func NumberKey(number string) string {
	for {
		key := foldNumber(number)
		if key == number {
			return key
		}
		number = key
	}
}

const maxNumberLen = 64 // bytes of a house number that are looked at

func foldNumber(s string) string {
	if len(s) > maxNumberLen {
		s = s[:maxNumberLen]
	}
	s = strings.ToLower(strings.ToValidUTF8(s, ""))
	s = numberReplacer.Replace(s)
	for _, prefix := range []string{"hausnummer", "haus-nr", "hausnr", "nummer", "nr", "no", "#", "n°", "nº"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && strings.ContainsAny(rest, "0123456789") {
			s = strings.TrimLeft(rest, ".: ")
		}
	}
	// Tokens: runs of digits, runs of letters, single separators.
	var b strings.Builder
	var last byte // class of the last token: 'd'igits, 'l'etters, or the separator
	space := false
	for i := 0; i < len(s); {
		j := i
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			for j < len(s) && '0' <= s[j] && s[j] <= '9' {
				j++
			}
			digits := strings.TrimLeft(s[i:j], "0")
			if digits == "" {
				digits = "0"
			}
			if last == 'd' && space {
				b.WriteByte(' ')
			}
			b.WriteString(digits)
			last = 'd'
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '.':
			space = true
			i++
			continue
		case strings.IndexByte("-/+;", c) >= 0:
			j++
			next := strings.TrimLeft(s[j:], " .")
			letter := next != "" && next[0] >= 'a' && next[0] <= 'z' &&
				(len(next) == 1 || next[1] < 'a' || next[1] > 'z')
			if b.Len() > 0 && next != "" && strings.IndexByte("-/+;", next[0]) < 0 &&
				!(c == '-' && letter && last == 'd') {
				b.WriteByte(c)
				last = c
			}
		default:
			for j < len(s) && (s[j] < '0' || s[j] > '9') && strings.IndexByte(" .\t\n\r-/+;", s[j]) < 0 {
				j++
			}
			b.WriteString(s[i:j])
			last = 'l'
		}
		space = false
		i = j
	}
	return b.String()
}

var numberReplacer = strings.NewReplacer(
	"–", "-", "—", "-", "−", "-", "‐", "-", "‑", "-",
	"\u00a0", " ", "\u202f", " ", "\u00ad", "", "\u200b", "",
	"½", " 1/2", "¼", " 1/4", "¾", " 3/4", ",", ";", "&", "+", " bis ", "-", " und ", "+", " u. ", "+",
)

// A numberRange is what a house number covers: lo = hi for a single one.
type numberRange struct{ lo, hi int }

// splitNumber splits the key of a house number into its base number and the
// rest: "12a" is 12 and "a". ok is false where it does not start with a digit.
func splitNumber(key string) (base int, rest string, ok bool) {
	i := 0
	for i < len(key) && i < 7 && '0' <= key[i] && key[i] <= '9' {
		i++
	}
	if i == 0 || i < len(key) && '0' <= key[i] && key[i] <= '9' {
		return 0, "", false
	}
	base, _ = strconv.Atoi(key[:i])
	return base, key[i:], true
}

// maxRange is the widest range of house numbers that counts as one.
const maxRange = 100

// coveredBy returns the numbers that "7-15", "20/21" or "1+3" cover beside
// their first. In "14/6" (Austrian: house/door) the second is no house number.
func coveredBy(key string) (numberRange, bool) {
	lo, rest, ok := splitNumber(key)
	if !ok {
		return numberRange{}, false
	}
	rest = strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz")
	if rest == "" || strings.IndexByte("-/+", rest[0]) < 0 {
		return numberRange{}, false
	}
	hi, _, ok := splitNumber(rest[1:])
	if !ok || hi <= lo || hi-lo > maxRange || rest[0] == '/' && hi-lo > 3 {
		return numberRange{}, false
	}
	return numberRange{lo, hi}, true
}

// covers reports whether n is one of the numbers of r. A range of one parity
// ("7-15") covers that side of the street only.
func (r numberRange) covers(n int) bool {
	if n < r.lo || n > r.hi {
		return false
	}
	return r.lo%2 != r.hi%2 || n%2 == r.lo%2
}
