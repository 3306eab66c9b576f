package textutil

import (
	"testing"
	"time"
)

// A time is that of the reader's clock and names its zone, in summer and in winter.
func TestMoment(t *testing.T) {
	here := time.Local
	defer func() { time.Local = here }()
	var err error
	if time.Local, err = time.LoadLocation("Europe/Berlin"); err != nil {
		t.Skip(err)
	}
	for at, want := range map[time.Time]string{
		time.Date(2026, 7, 1, 22, 5, 9, 0, time.UTC):   "2026-07-02 00:05:09 CEST",
		time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC): "2027-01-01 00:00:00 CET",
	} {
		if got := Moment(at); got != want {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
}

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
