package page

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// Thai and Japanese pages are detected by their charset, and by the script of their text
// (Somboonviwat, Tamura & Kitsuregawa 2005, section 3.2). The code pages are those of Thai
// (TIS-620, ISO-8859-11 and windows-874, which are one for this purpose) and of Japanese, by their
// names in the WHATWG Encoding Standard.
const (
	thaiPage = "windows-874"
	eucJP    = "euc-jp"
	shiftJIS = "shift_jis"
	iso2022  = "iso-2022-jp"
	eucKR    = "euc-kr"
)

// CharsetLanguage returns the only language of a charset, as an ISO 639-1 code, or "". name is that
// of the Encoding Standard.
func CharsetLanguage(name string) string {
	switch name {
	case thaiPage:
		return "th"
	case eucJP, shiftJIS, iso2022:
		return "ja"
	}
	return ""
}

// Bounds of the bytes examined, and the evidence required.
const (
	maxBytes   = 64 << 10
	minThai    = 12 // bytes beyond ASCII
	minPairs   = 8  // two-byte characters
	minLetters = 20
)

// charsetOfBytes returns the Thai, Japanese or Korean charset of an HTML body that declares none, by the
// distribution of its bytes, or "". It rejects the western and eastern European, Greek, Arabic
// and Chinese charsets.
func charsetOfBytes(body []byte) string {
	body = body[:min(len(body), maxBytes)]
	paired := isPaired(body)
	switch {
	case bytes.Contains(body, []byte("\x1b$B")), bytes.Contains(body, []byte("\x1b$@")):
		return iso2022
	case paired && isJapanese(body, eucJP): // before Thai, whose letters have the same bytes
		return eucJP
	case paired && isKorean(body):
		return eucKR
	case isThai(body):
		return thaiPage
	case hasKanaBytes(body) && isJapanese(body, shiftJIS):
		return shiftJIS
	}
	return ""
}

// isPaired reports whether nearly all bytes beyond ASCII have others beside them, as in EUC. Letters
// with marks of western languages stand alone, which a decoder takes longer to find; those up to 0xC6
// can be Korean with the ASCII byte behind them.
func isPaired(body []byte) bool {
	high, alone := 0, 0
	for i, c := range body {
		if c < utf8.RuneSelf {
			continue
		}
		high++
		if c > 0xC6 && (i == 0 || body[i-1] < utf8.RuneSelf) && (i+1 == len(body) || body[i+1] < utf8.RuneSelf) {
			alone++
		}
	}
	return alone*50 <= high
}

// hasKanaBytes reports whether a body has two bytes with which kana begin in Shift_JIS.
func hasKanaBytes(body []byte) bool {
	n := 0
	for _, c := range body {
		if 0x81 <= c && c <= 0x83 {
			n++
		}
	}
	return n >= 2
}

// isThai reports whether the bytes beyond ASCII are ordered like Thai letters: marks follow a
// consonant, leading vowels precede one, and letters form lines without gaps.
func isThai(body []byte) bool {
	high, wrong, marks, runs := 0, 0, 0, 0
	before := byte(0)
	for i, c := range body {
		if c < 0x80 {
			before = c
			continue
		}
		high++
		if before < 0x80 {
			runs++
		}
		switch {
		case isMark(c):
			marks++
			if !isConsonant(before) && !isMark(before) {
				wrong++
			}
		case 0xE0 <= c && c <= 0xE4: // a leading vowel
			marks++
			if i+1 < len(body) && !isConsonant(body[i+1]) {
				wrong++
			}
		case c == 0xA0 || isConsonant(c) || c >= 0xCF && c <= 0xD3 || c == 0xDF || c >= 0xE5 && c <= 0xE6 ||
			c >= 0xEF && c <= 0xFB:
		case 0x91 <= c && c <= 0x97 || c == 0x85: // quotation marks of windows-874
		default:
			wrong++
		}
		before = c
	}
	return high >= minThai && wrong*50 <= high && marks*8 >= high && high >= 4*runs
}

// isConsonant reports whether a byte of TIS-620 is a consonant.
func isConsonant(c byte) bool { return 0xA1 <= c && c <= 0xCE }

// isMark reports whether a byte of TIS-620 is written above or below the letter before it.
func isMark(c byte) bool { return c == 0xD1 || 0xD4 <= c && c <= 0xDA || 0xE7 <= c && c <= 0xEE }

// isJapanese reports whether nearly all of a body beyond ASCII can be read in a code page of Japanese,
// with as much kana in it as only Japanese has.
func isJapanese(body []byte, codePage string) bool {
	in, _ := charset.Lookup(codePage)
	text, err := in.NewDecoder().Bytes(body)
	wide, kana, wrong := 0, 0, 0
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf, 0xFF61 <= r && r <= 0xFF9F: // half-width kana
		case r == utf8.RuneError:
			wrong++
		default:
			wide++
			if 0x3041 <= r && r <= 0x30FF {
				kana++
			}
		}
	}
	return err == nil && wide >= minPairs && wrong*50 <= wide && kana*5 >= wide
}

// isKorean reports whether nearly all of a body beyond ASCII can be read in EUC-KR, and four fifths of
// it are Hangul. The decoder reads more, as of windows-949, whose further bytes are below 0xA1.
func isKorean(body []byte) bool {
	low, high := 0, 0
	for _, c := range body {
		if c >= utf8.RuneSelf {
			high++
			if c < 0xA1 {
				low++
			}
		}
	}
	if low*50 > high {
		return false
	}
	in, _ := charset.Lookup(eucKR)
	text, err := in.NewDecoder().Bytes(body)
	wide, hangul, wrong := 0, 0, 0
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
		case r == utf8.RuneError:
			wrong++
		default:
			wide++
			if 0xAC00 <= r && r <= 0xD7A3 {
				hangul++
			}
		}
	}
	return err == nil && wide >= minPairs && wrong*50 <= wide && hangul*5 >= wide*4
}

// languageOfScript returns "th" if a fifth of the text's letters are Thai, "ja" if a twentieth are
// kana and a fifth kana or Chinese characters, else "".
func languageOfScript(text string) string {
	if strings.IndexByte(text, 0xE0) < 0 && strings.IndexByte(text, 0xE3) < 0 {
		return "" // no first byte of a Thai letter or kana
	}
	letters, thai, kana, han, read := 0, 0, 0, 0, 0
	for _, r := range text {
		read++
		if read > maxBytes {
			break
		}
		switch {
		case r < 0x80:
			if 'a' <= r|0x20 && r|0x20 <= 'z' {
				letters++
			}
			continue
		case 0x0E00 <= r && r <= 0x0E7F:
			thai++
		case 0x3041 <= r && r <= 0x30FF:
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case !unicode.IsLetter(r):
			continue
		}
		letters++
	}
	switch {
	case letters < minLetters:
	case thai*5 >= letters:
		return "th"
	case kana*20 >= letters && (kana+han)*5 >= letters:
		return "ja"
	}
	return ""
}
