// Searchpage bundles the scripts and styles of the search page, with Leaflet and its
// clusters from npm, into index/web/dist. It needs npm; "make ui" calls it.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	folder := "index/web"
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	err := build(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// licences of what is bundled; their texts go with it.
var licences = []string{"leaflet/LICENSE", "leaflet.markercluster/MIT-LICENCE.txt"}

// build installs the packages that folder/package-lock.json names and bundles
// them with folder/src into folder/dist.
func build(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "package-lock.json")); err != nil {
		return fmt.Errorf("%w. Call it in the root of the repository, or name the folder: "+
			"go run ./internal/tools/searchpage index/web", err)
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is not there, which fetches Leaflet (Debian: apt-get install npm). " +
			"Without it the page has a plain map")
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
		"--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000")
	npm.Dir = folder
	out, err := npm.CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm cannot fetch Leaflet (npm ci: %w). Is there a network? "+
			"Without it the page has a plain map\n%s", err, out)
	}
	var banner strings.Builder
	for _, name := range licences {
		text, err := os.ReadFile(filepath.Join(folder, "node_modules", name))
		if err != nil {
			return err
		}
		library, _, _ := strings.Cut(name, "/")
		fmt.Fprintf(&banner, "/*! %s\n%s*/\n", library, strings.ReplaceAll(string(text), "*/", "* /"))
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(folder, "src/app.js"), filepath.Join(folder, "src/app.css")},
		Outdir:      filepath.Join(folder, "dist"), Write: true, Bundle: true,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Platform: api.PlatformBrowser, Format: api.FormatIIFE, Target: api.ES2020,
		Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Loader:   map[string]api.Loader{".png": api.LoaderEmpty}, // Leaflet's icons; ours are drawn by CSS
		Banner:   map[string]string{"js": banner.String()},
		LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("esbuild: %d errors", len(result.Errors))
	}
	for _, f := range result.OutputFiles {
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		_, err := z.Write(f.Contents)
		if err != nil {
			return err
		}
		err = z.Close()
		if err != nil {
			return err
		}
		fmt.Printf("%-8s %4d kB, %3d kB as sent (gzip)\n", filepath.Base(f.Path), len(f.Contents)/1000, small.Len()/1000)
	}
	return nil
}
