package crawler

import (
	_ "embed"
	"strings"
	"sync"

	"gazehound/crawler/weburl"
)

//go:embed platforms.txt
var platformList string

// platforms has the lines of platforms.txt.
var platforms = sync.OnceValue(func() map[string]bool {
	list := map[string]bool{}
	for line := range strings.Lines(platformList) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			list[line] = true
		}
	}
	return list
})

// isPlatform reports whether u is on one of the platforms of platforms.txt.
func isPlatform(u weburl.URL) bool {
	list := platforms()
	for host := u.Hostname(); host != ""; _, host, _ = strings.Cut(host, ".") {
		if list["!"+host] {
			return false
		}
		if list[host] {
			return true
		}
	}
	name, _, _ := strings.Cut(u.Site(), ".")
	return list[name+".*"]
}
