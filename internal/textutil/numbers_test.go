package textutil

import "testing"

func TestNumbers(t *testing.T) {
	reasons := map[string]int64{"dns": 61, "timeout": 1096, "http_4xx": 61, "tls": 0}
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(int64(-1234567)), "-1,234,567"},
		{Several(1, "page"), "1 page"}, {Several(0, "page"), "0 pages"}, {Several(2000, "address"), "2,000 addresses"},
		{Megabytes(1_250_000), "1.2 MB"}, {Megabytes(12_300_000_000), "12.3 GB"},
		{Reasons(reasons), "timeout 1,096 · dns 61 · http 4xx 61"}, {Reasons(nil), ""},
		{Count(Sum(reasons)), "1,218"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
