package partition

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gazehound/predictor"
)

// maxPlaceExamples bounds the example pages of one place; Gao, Lee & Miao took
// 500 to 2,000 (section 3.4.4).
const maxPlaceExamples = 2000

// Train learns from example pages what texts about each place are like. A directory has a folder
// for each class, named after a node, a city ("Los Angeles, CA") or "none", with files which read
// returns the text of; what begins with a dot does not count. print is a hash of the training
// pages, equal on nodes with the same ones.
func Train(dirs []string, read func(file string) (string, error)) (
	classes *predictor.Classes, print string, err error) {
	var names []string
	pages := map[string][]string{} // class → files
	for _, dir := range dirs {
		folders, err := visible(dir)
		if err != nil {
			return nil, "", err
		}
		for _, f := range folders {
			if !f.IsDir() {
				return nil, "", fmt.Errorf("%s is not a folder of example pages: each place has one, and %q",
					filepath.Join(dir, f.Name()), None)
			}
			if pages[f.Name()] == nil {
				names = append(names, f.Name())
			}
			files, err := visible(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, "", err
			}
			for _, page := range files {
				pages[f.Name()] = append(pages[f.Name()], filepath.Join(dir, f.Name(), page.Name()))
			}
			if n := len(pages[f.Name()]); n == 0 || n > maxPlaceExamples {
				return nil, "", fmt.Errorf("%s has %d example pages, want 1 to %d",
					filepath.Join(dir, f.Name()), n, maxPlaceExamples)
			}
		}
	}
	if pages[None] == nil {
		return nil, "", fmt.Errorf("%s has no folder %q with pages that are about none of the places",
			strings.Join(dirs, ", "), None)
	}
	classes, err = predictor.NewClasses(names...)
	if err != nil {
		return nil, "", fmt.Errorf("%s has no folder beside %q: each place has one", strings.Join(dirs, ", "), None)
	}
	sum := sha256.New()
	for i, name := range names {
		fmt.Fprintf(sum, "%q\n", name)
		for _, file := range pages[name] {
			text, err := read(file)
			if err != nil {
				return nil, "", err
			}
			words := Words(text)
			classes.Learn(i, words)
			fmt.Fprintf(sum, "%q\n", words)
		}
	}
	return classes, hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// visible lists a directory by name without what begins with a dot.
func visible(dir string) (entries []os.DirEntry, err error) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), ".") {
			entries = append(entries, e)
		}
	}
	return entries, err
}
