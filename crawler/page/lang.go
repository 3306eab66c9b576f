package page

import (
	"strings"

	"gazehound/internal/textutil"

	"github.com/abadojack/whatlanggo"
	"golang.org/x/text/language"
)

// Bounds of the text from which the language is detected, in bytes.
const (
	minDetect = 200
	maxDetect = 1000
)

// spoken are the candidates of detect: the languages of Europe with many pages, and the world's
// largest. Fewer candidates make detection faster and more accurate.
var spoken = whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{
	whatlanggo.Deu: true, whatlanggo.Eng: true, whatlanggo.Fra: true, whatlanggo.Ita: true, whatlanggo.Spa: true,
	whatlanggo.Por: true, whatlanggo.Nld: true, whatlanggo.Dan: true, whatlanggo.Swe: true, whatlanggo.Nob: true,
	whatlanggo.Fin: true, whatlanggo.Pol: true, whatlanggo.Ces: true, whatlanggo.Hun: true, whatlanggo.Ron: true,
	whatlanggo.Tur: true, whatlanggo.Hrv: true, whatlanggo.Slv: true, whatlanggo.Rus: true, whatlanggo.Ukr: true,
	whatlanggo.Bul: true, whatlanggo.Srp: true, whatlanggo.Arb: true, whatlanggo.Heb: true, whatlanggo.Hin: true,
}}

// language returns the language of a page with this text, as an ISO 639-1 code, or "": the declared
// one, or else the one detected. Thai and Japanese are detected by their scripts before.
func (h *head) language(text string) string {
	for _, declared := range h.langs {
		if code := languageCode(declared); code != "" {
			return code
		}
	}
	return detect(text)
}

// languageCode returns the ISO 639-1 code of a language tag such as "de-AT",
// "de_DE" or "deu", or "".
func languageCode(tag string) string {
	tag, _, _ = strings.Cut(strings.TrimSpace(tag), ",")
	tag, _, _ = strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	base, err := language.ParseBase(strings.ToLower(textutil.Clip(tag, 10)))
	if err != nil || len(base.String()) != 2 {
		return ""
	}
	return base.String()
}

// detect detects the language of a text by its sentences, of which it needs minDetect bytes; menus,
// lists of files and tables have none.
func detect(text string) string {
	sample := make([]byte, 0, maxDetect)
	for line := range strings.Lines(text) {
		line = line[:min(len(line), maxDetect-len(sample))]
		if isProse(line) {
			sample = append(sample, line...)
		}
		if len(sample) == maxDetect {
			break
		}
	}
	if len(sample) < minDetect {
		return ""
	}
	info := whatlanggo.DetectWithOptions(strings.ToValidUTF8(string(sample), ""), spoken)
	if !info.IsReliable() {
		return ""
	}
	return info.Lang.Iso6391()
}

// isProse reports whether a line is long enough for a sentence and made of words.
func isProse(line string) bool {
	if len(line) < 50 {
		return false
	}
	spaces, others := 0, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			spaces++
		case c < 'A' || 'Z' < c && c < 'a' || 'z' < c && c < 0x80:
			others++
		}
	}
	return spaces >= 5 && others*8 <= len(line)
}
