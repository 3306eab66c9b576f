package page

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

const (
	thai    = "ร้านอาหารของเราเปิดทุกวันตั้งแต่แปดโมงเช้าถึงหกโมงเย็น ยินดีต้อนรับลูกค้าทุกท่าน ที่อยู่ ถนนสุขุมวิท กรุงเทพฯ"
	ja      = "東京都千代田区にあるお店です。毎日午前八時から午後六時まで営業しています。どうぞお気軽にお越しください。カタログはこちら。"
	chinese = "我们的餐厅每天从早上八点营业到晚上六点，欢迎各位顾客光临。地址在北京市朝阳区建国门外大街一号，请您提前预约座位。"
	hanzi   = "我們的餐廳每天從早上八點營業到晚上六點，歡迎各位顧客光臨。地址在臺北市大安區忠孝東路四段一號，請您提前預約座位。"
	korea   = "저희 식당은 매일 아침 여덟 시부터 저녁 여섯 시까지 영업합니다. 손님 여러분을 환영합니다. 주소는 서울시 중구입니다."
	russian = "Наш ресторан работает каждый день с восьми утра до шести вечера. Добро пожаловать, дорогие гости! Адрес: улица Ленина, объявления, юность, связь."
	greek   = "Το εστιατόριό μας είναι ανοιχτό κάθε μέρα από τις οκτώ το πρωί μέχρι τις έξι το απόγευμα. Καλώς ήρθατε, διεύθυνση στην Αθήνα."
	german  = "Unser Wirtshaus hat täglich von acht bis sechs geöffnet. Größere Gruppen können für Sänger und Züge Plätze über unser Büro reservieren. Schöne Grüße!"
	czech   = "Naše hospůdka má otevřeno každý den od osmi ráno do šesti večer. Těšíme se na vaši návštěvu, přijďte ochutnat svíčkovou a pivo."
	arabic  = "مطعمنا مفتوح كل يوم من الساعة الثامنة صباحا حتى السادسة مساء ونرحب بجميع الزبائن في شارع الملك فهد بالرياض"
	page    = "<html><head><title>%</title></head><body><h1>%</h1><p class=\"x\">%</p><a href=\"/a\">%</a></body></html>"
	english = "Our restaurant is open every day from eight in the morning until six in the evening. We look forward to seeing you."
)

func TestCharsetOfBytes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		in         encoding.Encoding
		want       string
	}{
		{"thai", thai, charmap.Windows874, thaiPage},
		{"euc-jp", ja, japanese.EUCJP, eucJP},
		{"euc-jp with umlauts", ja + " Größe, Öl, ©", japanese.EUCJP, eucJP},
		{"shift_jis", ja, japanese.ShiftJIS, shiftJIS},
		{"iso-2022-jp", ja, japanese.ISO2022JP, iso2022},
		{"gb2312", chinese, simplifiedchinese.GBK, ""},
		{"big5", hanzi, traditionalchinese.Big5, ""},
		{"euc-kr", korea, korean.EUCKR, "euc-kr"},
		{"windows-1251", russian, charmap.Windows1251, ""},
		{"koi8-r", russian, charmap.KOI8R, ""},
		{"iso-8859-5", russian, charmap.ISO8859_5, ""},
		{"windows-1253", greek, charmap.Windows1253, ""},
		{"windows-1252", german, charmap.Windows1252, ""},
		{"windows-1250", czech, charmap.Windows1250, ""},
		{"windows-1256", arabic, charmap.Windows1256, ""},
		{"ascii", english, charmap.Windows1252, ""},
		{"too little", "ร้าน", charmap.Windows874, ""},
	} {
		text := c.text
		if c.name != "too little" {
			text = strings.ReplaceAll(page, "%", c.text)
		}
		body, err := encoding.ReplaceUnsupported(c.in.NewEncoder()).Bytes([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := charsetOfBytes(body); got != c.want {
			t.Errorf("%s: Charset = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLanguageOfScript(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{thai, "th"}, {ja, "ja"}, {thai + english, "th"}, {chinese, ""}, {korea, ""}, {russian, ""}, {english, ""}, {"", ""},
		{strings.Repeat(english, 10) + thai, ""}, // a page that quotes some
	} {
		if got := languageOfScript(c.text); got != c.want {
			t.Errorf("OfText(%.40q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCharsetLanguage(t *testing.T) {
	for name, want := range map[string]string{thaiPage: "th", eucJP: "ja", shiftJIS: "ja", iso2022: "ja", "utf-8": "", "": ""} {
		if got := CharsetLanguage(name); got != want {
			t.Errorf("OfCharset(%q) = %q, want %q", name, got, want)
		}
	}
}

// FuzzCharsetOfBytes: any bytes have an answer, one of the six.
func FuzzCharsetOfBytes(f *testing.F) {
	f.Add([]byte(thai))
	f.Add([]byte("\x1b$B"))
	f.Add([]byte("\xa4\xa2\xa4"))
	f.Fuzz(func(t *testing.T, body []byte) {
		switch got := charsetOfBytes(body); got {
		case "", thaiPage, eucJP, shiftJIS, iso2022, eucKR:
		default:
			t.Errorf("Charset = %q", got)
		}
		if l := languageOfScript(string(body)); l != "" && l != "th" && l != "ja" {
			t.Errorf("OfText = %q", l)
		}
	})
}

// What a meta element declares is kept beside what the bytes are, in both spellings.
func TestMetaCharset(t *testing.T) {
	for head, want := range map[string]string{
		`<meta http-equiv="Content-Type" content="text/html; charset=TIS-620">`: "windows-874",
		`<meta charset="EUC-JP">`:                           "euc-jp",
		`<meta charset="nonsense"><meta charset=Shift_JIS>`: "shift_jis",
		`<title>none</title>`:                               "",
	} {
		p, err := Parse(response(t, "http://a.example/", "", head+"<p>text"))
		if err != nil || p.Meta != want || p.Charset != "utf-8" {
			t.Errorf("%s: %q in %q, %v, want %q", head, p.Meta, p.Charset, err, want)
		}
	}
}
