package page

import (
	"strings"

	"github.com/abadojack/whatlanggo"
	"golang.org/x/text/language"
)

// Bounds of the text that a language is told from, in bytes.
const (
	minDetect = 200
	maxDetect = 1000
)

// language returns the declared language of the page, or else that of its text,
// as an ISO 639-1 code, or "".
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
	base, err := language.ParseBase(strings.ToLower(clip(tag, 10)))
	if err != nil || len(base.String()) != 2 {
		return ""
	}
	return base.String()
}

// detect tells the language of a text of at least minDetect bytes from its
// longest lines, because menus say little.
func detect(text string) string {
	if len(text) < minDetect {
		return ""
	}
	sample := make([]byte, 0, maxDetect+4)
	for line := range strings.Lines(text) {
		if len(line) >= 60 {
			sample = append(sample, line[:min(len(line), maxDetect-len(sample))]...)
		}
		if len(sample) >= maxDetect {
			break
		}
	}
	if len(sample) < minDetect {
		sample = append(sample[:0], text[:min(len(text), maxDetect)]...)
	}
	info := whatlanggo.Detect(strings.ToValidUTF8(string(sample), ""))
	if !info.IsReliable() {
		return ""
	}
	return info.Lang.Iso6391()
}
