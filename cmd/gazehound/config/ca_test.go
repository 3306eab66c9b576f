package config

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/weburl"
)

// fetch.ca_file makes an authority of one's own trusted; a file without certificates is refused.
func TestCAFile(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own := file("own.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	u, err := weburl.Parse(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ file, class string }{{"", fetch.ClassTLS}, {own, ""}} {
		o := new(Options)
		o.Fetch.CAFile, o.Fetch.AllowPrivateAddresses, o.Fetch.UserAgentName = x.file, true, "test"
		o.Fetch.Timeout, o.Fetch.MaxBody, o.Fetch.MaxHeader = 10*time.Second, 1e6, 1e5
		options, err := o.FetchOptions("1")
		if err != nil {
			t.Fatal(err)
		}
		client, err := fetch.New(options)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Fetch(t.Context(), u)
		client.Close()
		if got := map[bool]string{true: fetch.Class(err)}[err != nil]; got != x.class {
			t.Errorf("with ca_file %q: %v, want class %q", x.file, err, x.class)
		}
	}
	for name, want := range map[string]string{file("empty.pem", []byte("nothing")): "no certificate in PEM", dir + "/none.pem": "no such file"} {
		o := new(Options)
		o.Fetch.CAFile = name
		if _, err := o.FetchOptions("1"); err == nil || !strings.Contains(err.Error(), "fetch.ca_file") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
