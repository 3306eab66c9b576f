package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

// encoded returns s in an encoding, by its name in the Encoding Standard.
func encoded(t testing.TB, name, s string) string {
	t.Helper()
	e, _ := charset.Lookup(name)
	out, err := e.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Queries are sent in the charset of their page, paths in UTF-8.
func TestQueriesInThePagesCharset(t *testing.T) {
	for _, x := range []struct{ charset, ref, want string }{
		{"windows-1252", "/k?ort=Straße&b=ü#ä", "/k?ort=Stra%DFe&b=%FC"},
		{"windows-1252", "/Büro?q=Büro", "/B%C3%BCro?q=B%FCro"},
		{"iso-8859-2", "?q=Łódź", "/?q=%A3%F3d%BC"},
		{"iso-8859-2", "?q=ß&x=1", "/?q=%DF&x=1"},
		{"windows-1251", "?q=ü", "/?q=%26%23252%3B"}, // a letter that it lacks
		{"utf-8", "?q=ü", "/?q=%C3%BC"},
		{"windows-1252", "?q=%FC&r=%C3%BC", "/?q=%FC&r=%C3%BC"},
	} {
		name := x.charset
		body := `<a href="` + x.ref + `">x</a> äöü`
		if name == "windows-1251" {
			body = `<a href="?q=&uuml;">x</a> Привет`
		}
		if name == "iso-8859-2" {
			body = `<a href="` + x.ref + `">x</a> łó`
		}
		r := response(t, "http://a.example/", "text/html; charset="+name, encoded(t, name, body))
		p, err := Parse(r)
		if err != nil || len(p.Links) != 1 {
			t.Fatalf("%s %s: %v, %+v", name, x.ref, err, p)
		}
		if got := strings.TrimPrefix(p.Links[0].To.String(), "http://a.example"); got != x.want {
			t.Errorf("%s: %s leads to %s, want %s", name, x.ref, got, x.want)
		}
	}
}

// Pages in EUC-KR and EUC-JP that declare nothing are not Thai, and Thai ones stay so.
func TestUndeclaredEastAsianCharsets(t *testing.T) {
	for _, x := range []struct{ charset, text, language string }{
		{"euc-kr", "우리 가게는 시청 옆 큰길에 있습니다. 아침 아홉 시부터 저녁 여섯 시까지 문을 엽니다. 빵과 과자를 팝니다. 전화로 주문하실 수 있습니다.", ""},
		{"euc-kr", "대한민국 서울특별시 종로구 세종대로 도서관 안내: 자료실, 열람실, 회의실", ""},
		{"euc-jp", "私たちの店は市役所のとなりにあります。毎日あさ九時からひらいています。パンとおかしをうっています。", "ja"},
		{"windows-874", "ร้านของเราอยู่ข้างศาลากลาง เปิดทุกวันตั้งแต่เก้าโมงเช้าถึงหกโมงเย็น ขายขนมปังและขนมหวาน โทรสั่งได้", "th"},
		{"shift_jis", "私たちの店は市役所のとなりにあります。毎日あさ九時からひらいています。パンとおかしをうっています。", "ja"},
	} {
		r := response(t, "http://a.example/", "text/html", encoded(t, x.charset, "<p>"+x.text))
		p, err := Parse(r)
		if err != nil {
			t.Fatal(err)
		}
		if p.Charset != x.charset || p.Script != x.language || !strings.Contains(p.Text, x.text[:12]) {
			t.Errorf("%s: charset %s, script %q: %.40s", x.charset, p.Charset, p.Script, p.Text)
		}
	}
}
