package demo

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

// The web of a town may have sites in another language, with the habits that
// Somboonviwat, Tamura & Kitsuregawa (2005, section 3) saw: most links stay in
// the language, some sites are reached from pages in another one only, and some
// pages do not say their language or say a wrong one.
const (
	fronted  = 0.45 // share of the sites in it whose home page is German
	islands  = 0.35 // share that only German pages link to
	mixed    = 0.06 // share of their pages behind the home page that are German
	tongueOf = 1 << 40
)

// A tongue is another language that a town's web speaks.
type tongue struct {
	words []string
	pages []codePage // each site has one of them
}

// A codePage is how the pages of a site are written and what they declare.
type codePage struct {
	encoding encoding.Encoding // nil: UTF-8
	meta     string            // charset in a META element, or ""
	header   string            // … in the header, or ""
	lang     string            // of the html element, or ""
}

// tongues are the languages that Options.Language can name.
var tongues = map[string]*tongue{
	"th": {
		words: strings.Fields(`การ บ้าน เมือง วันนี้ พรุ่งนี้ ตลาด ร้านค้า อาหาร ข้าว น้ำ ปลา ไก่ ผลไม้ โรงเรียน นักเรียน ครู หนังสือ เรียนรู้ เดินทาง รถไฟ
			ท่องเที่ยว ทะเล ภูเขา แม่น้ำ ต้นไม้ ดอกไม้ ฤดูร้อน ฝน อากาศ ข่าว กีฬา ดนตรี ภาพยนตร์ วัฒนธรรม ประเพณี เทศกาล ครอบครัว เด็ก เพื่อน สุขภาพ
			แพทย์ บริการ ราคา สินค้า ใหม่ ใหญ่ เล็ก สวยงาม รวดเร็ว และ หรือ ที่ ของ จาก ไม่ ได้ เป็น มี ให้ กับ ทั้งหมด ทำงาน บริษัท ประชุม โครงการ พัฒนา
			ความรู้ ความสุข เศรษฐกิจ รัฐบาล ประชาชน ชุมชน หมู่บ้าน เกษตร ช่าง เครื่องมือ คอมพิวเตอร์ ติดต่อ รายละเอียด หน้าแรก เกี่ยวกับ`),
		pages: []codePage{
			{charmap.Windows874, "tis-620", "", ""},
			{charmap.Windows874, "windows-874", "", "th"},
			{charmap.Windows874, "", "windows-874", ""},
			{charmap.Windows874, "", "", ""},
			{charmap.Windows874, "iso-8859-1", "", "en"}, // as templates of the time had it
			{nil, "utf-8", "utf-8", "th"},
			{nil, "", "utf-8", "de"},
		},
	},
	"ja": {
		words: strings.Fields(`これ それ 私たち 町 村 今日 明日 市場 お店 食べもの ご飯 お水 さかな くだもの 学校 生徒 先生 本 学びます 旅 電車 観光 海
			山 川 木々 花 夏休み 雨 天気 ニュース スポーツ 音楽 映画 文化 まつり 家族 子ども 友だち 健康 お医者さん サービス 値段 商品 新しい 大きい
			小さい 美しい 早い そして または から まで ない です ます あります の に は が を で 仕事 会社 会議 計画 知らせ しあわせ 経済 国 みんな
			地域 農業 道具 コンピュータ お問い合わせ くわしく ホーム について 始まりました 続きます 思います ください`),
		pages: []codePage{
			{japanese.ShiftJIS, "Shift_JIS", "", ""},
			{japanese.ShiftJIS, "", "Shift_JIS", "ja"},
			{japanese.ShiftJIS, "", "", ""},
			{japanese.EUCJP, "EUC-JP", "", ""},
			{japanese.EUCJP, "iso-8859-1", "", "en"},
			{japanese.ISO2022JP, "ISO-2022-JP", "", ""},
			{nil, "utf-8", "utf-8", "ja"},
			{nil, "", "utf-8", "de"},
		},
	},
}

// speak chooses the sites in the town's other language.
func (t *Town) speak() {
	if t.tongue = tongues[t.o.Language]; t.tongue == nil {
		return
	}
	for i := range t.sites {
		s := &t.sites[i]
		d := t.dice(topicLanguage, uint64(i))
		switch s.kind {
		case portal, newspaper, directory, calendar:
		default:
			s.foreign = d.chance(t.o.Foreign)
		}
		s.fronted, s.island = s.foreign && d.chance(fronted), s.foreign && d.chance(islands)
		if s.fate == broken || s.fate == resets || s.fate == optedOut || s.fate == noRobots || s.island {
			continue
		}
		if s.foreign {
			t.abroad = append(t.abroad, int32(i))
		} else {
			t.german = append(t.german, int32(i))
		}
	}
}

// isForeign tells whether a page is in the town's other language.
func (t *Town) isForeign(r ref) bool {
	s := &t.sites[r.site]
	switch {
	case !s.foreign:
		return false
	case r.page == homePage:
		return !s.fronted
	}
	d := t.dice(topicLanguage, uint64(r.site), uint64(r.page))
	return !d.chance(mixed)
}

// language returns the ISO 639-1 code of the page's text.
func (c *canvas) language() string {
	if c.foreign {
		return c.t.o.Language
	}
	return "de"
}

// inLanguage returns site s for a link, or in most cases another one if the
// link would leave the language of its site.
func (c *canvas) inLanguage(s int32) int32 {
	to, own := &c.t.sites[s], c.t.german
	if c.s.foreign {
		own = c.t.abroad
	}
	switch {
	case c.t.tongue == nil || len(own) == 0 || s == c.at.site:
		return s
	case c.s.foreign && to.island, c.s.foreign != to.foreign && c.d.chance(c.t.o.LanguageLocality):
		return pick(&c.d, own)
	}
	return s
}

// codePage returns how the foreign pages of a site are written.
func (t *Town) codePage(site int32) codePage {
	d := t.dice(topicLanguage, uint64(site), tongueOf)
	return pick(&d, t.tongue.pages)
}

// translate puts a word of the language in the place of each word of s: always
// the same one for the same word. Like both languages it leaves no gaps.
func (t *tongue) translate(s string) string {
	var b strings.Builder
	gap := false   // there was a space
	after := false // … behind a word
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
		if n < 0 {
			n = len(s)
		}
		switch {
		case n > 0:
			if gap && !after {
				b.WriteByte(' ')
			}
			h := uint32(2166136261)
			for i := range n {
				h = (h ^ uint32(s[i])) * 16777619
			}
			b.WriteString(t.words[h>>8%uint32(len(t.words))])
			s, gap, after = s[n:], false, true
		case s[0] == ' ':
			s, gap = s[1:], true
		default:
			if gap {
				b.WriteByte(' ')
			}
			r, _ := utf8.DecodeRuneInString(s)
			b.WriteRune(r)
			s, gap, after = s[len(string(r)):], false, false
		}
	}
	if gap {
		b.WriteByte(' ')
	}
	return b.String()
}

// encode returns a page as its site serves it. What the code page does not have
// becomes a reference.
func (p codePage) encode(page []byte) (body []byte, header http.Header, err error) {
	kind := "text/html"
	if p.header != "" {
		kind += "; charset=" + p.header
	}
	header = http.Header{"Content-Type": {kind}}
	if p.encoding == nil {
		return page, header, nil
	}
	body, err = encoding.HTMLEscapeUnsupported(p.encoding.NewEncoder()).Bytes(page)
	return body, header, err
}
