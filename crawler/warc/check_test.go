package warc

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/internal/check"
)

// A changed byte in the block of an uncompressed record is noticed where the record states a digest
// of its block, and only there.
func TestCheckRecordsComparesDigests(t *testing.T) {
	for _, c := range []struct {
		name   string
		digest func(block string) string // "": none is stated
		notice bool
	}{
		{"sha256 in base 32", func(b string) string { s := sha256.Sum256([]byte(b)); return digest(s) }, true},
		{"sha1 in base 32", func(b string) string {
			s := sha1.Sum([]byte(b))
			return "sha1:" + base32.StdEncoding.EncodeToString(s[:])
		}, true},
		{"SHA-256 in hexadecimal", func(b string) string { return fmt.Sprintf("SHA-256:%x", sha256.Sum256([]byte(b))) }, true},
		{"unknown", func(string) string { return "crc32:12345678" }, false},
		{"no colon", func(string) string { return "sha1" }, false},
		{"none", func(string) string { return "" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			records := []string{info}
			for i := range 3 {
				block := html(fmt.Sprintf("page %d %x", i, noise(300)))
				record := response(fmt.Sprintf("http://a.example/%d", i), block)
				if d := c.digest(block); d != "" {
					record = strings.Replace(record, "Content-Length", "WARC-Block-Digest: "+d+"\r\nContent-Length", 1)
				}
				records = append(records, record)
			}
			file := write(t, "web.warc", records...)
			if f := CheckRecords(t.Context(), filepath.Dir(file)); f.State != check.OK {
				t.Fatalf("of a whole file: %v", f)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(data, []byte("page 1")) + 40
			data[at] ^= 1
			if err := os.WriteFile(file, data, 0o644); err != nil {
				t.Fatal(err)
			}
			start := len(records[0]) + len(records[1])
			want := fmt.Sprintf("1 record of another content than WARC-Block-Digest says, the first at byte %d", start)
			f := CheckRecords(t.Context(), filepath.Dir(file))
			if got := f.State == check.Fail && strings.Contains(f.String(), want); got != c.notice {
				t.Errorf("noticed: %v, want %v: %v", got, c.notice, f)
			}
		})
	}
}
