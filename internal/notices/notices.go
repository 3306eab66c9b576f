// Package notices has the licences of the program's dependencies.
package notices

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
)

//go:generate go run ../tools/notices

//go:embed notices.txt.gz
var packed []byte

// Text returns the licences of Go, of each module that a release contains, with its
// version, and of data and scripts that are part of it.
func Text() (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("notices: %w", err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return "", fmt.Errorf("notices: %w", err)
	}
	return string(text), nil
}
