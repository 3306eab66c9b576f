package fetch

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"gazehound/crawler/weburl"

	br "github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// read decodes body and reads at most limit bytes of it.
func read(coding string, body []byte, limit int64) ([]byte, error) {
	header := http.Header{"Content-Encoding": {coding}}
	sent := &wire{r: bytes.NewReader(body), limit: limit + slack}
	decoded, err := Decode(header, sent)
	if err != nil {
		return nil, sent.failed(err)
	}
	text, err := io.ReadAll(io.LimitReader(decoded, limit))
	if err != nil {
		err = sent.failed(err)
	}
	return text, err
}

// FuzzDecode has two laws: what is encoded decodes to itself, and any other bytes
// end as data within the limit or as an error with a class.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("Schloßplatz 1"), "gzip", false)
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), "gzip, deflate", true)
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00"), "zstd", true)
	f.Add([]byte("\x8b\x00\x80"), "br", true)
	f.Add([]byte("\x78\x9c"), "deflate", true)
	encoders := map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"br":      func(w io.Writer) io.WriteCloser { return br.NewWriterLevel(w, 1) },
		"zstd": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				panic(err)
			}
			return z
		},
	}
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, data []byte, coding string, raw bool) {
		if raw {
			got, err := read(coding, data, limit)
			if len(got) > limit || err != nil && classify(err) != ClassProtocol && classify(err) != ClassTooLarge {
				t.Errorf("%q in %q: %d bytes, %v", data, coding, len(got), err)
			}
			return
		}
		encoder, ok := encoders[coding]
		if !ok || len(data) > limit {
			return
		}
		var b bytes.Buffer
		w := encoder(&b)
		w.Write(data)
		w.Close()
		if got, err := read(coding, b.Bytes(), limit); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q through %s is %q, %v", data, coding, got, err)
		}
	})
}

func FuzzLocation(f *testing.F) {
	for _, s := range []string{"/x", "//", "?", "javascript:x", "http://a.example/\xff", "\x00", "https://u:p@b.example/"} {
		f.Add(s)
	}
	base, err := weburl.Parse("http://a.example/dir/page?x=1")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		u := location(base, header)
		if u.IsZero() {
			return
		}
		if again, err := weburl.Parse(u.String()); err != nil || again != u || !strings.HasPrefix(u.Scheme(), "http") {
			t.Errorf("location %q is %q, and of that %q, %v", header, u, again, err)
		}
	})
}
