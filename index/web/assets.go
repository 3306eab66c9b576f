package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sync"
)

//go:embed style.css
var style []byte

// dist holds what "make ui" has made, or only its README.
//
//go:embed dist
var dist embed.FS

// An Asset is a file that pages load. Its path changes with its content.
type Asset struct {
	Path string // "/assets/app-0123456789ab.js"
	Type string // of HTTP
	Body []byte
}

// Assets returns the files that pages load: the style sheet, where they were built in
// the script of the map and its styles, and last the script that corrects.
var Assets = sync.OnceValue(func() []Asset {
	all := []Asset{newAsset("style", ".css", style)}
	for _, suffix := range []string{".js", ".css"} {
		if body, err := fs.ReadFile(dist, "dist/app"+suffix); err == nil {
			all = append(all, newAsset("app", suffix, body))
		}
	}
	return append(all, newAsset("correct", ".js", correctScript))
})

func newAsset(name, suffix string, body []byte) Asset {
	sum := sha256.Sum256(body)
	media := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}[suffix]
	return Asset{Path: "/assets/" + name + "-" + hex.EncodeToString(sum[:6]) + suffix, Type: media, Body: body}
}

// HasMap reports whether the moving map was built in. Without it the page has a
// map that the server draws.
func HasMap() bool { return len(Assets()) == 4 }

// Version changes with everything that a page is made of.
var Version = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, a := range Assets() {
		sum.Write([]byte(a.Path))
	}
	sum.Write([]byte(pageSource + correctionsSource))
	return hex.EncodeToString(sum.Sum(nil)[:6])
})

// Policy returns the Content-Security-Policy of all answers: own scripts,
// styles and data only, and pictures of the tile server, if there is one
// ("https://tile.example", or "").
func Policy(tiles string) string {
	if tiles != "" {
		tiles = " " + tiles
	}
	return "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:" + tiles +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}
