// Package seedlist finds seeds in the files of other programs: results of Overpass, Wikidata and
// All the Places, listings of web archives, bookmarks, the lists of feed readers, sitemaps, tables,
// and plain text. It streams: memory is bounded whatever the size of the file.
package seedlist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/paulmach/orb"
)

// A Form is the format of a list.
type Form string

// The formats.
const (
	JSON   Form = "JSON"   // one document, or several in a row
	Markup Form = "markup" // HTML and XML
	Table  Form = "table"  // CSV with a column of web addresses
	Lines  Form = "lines"  // anything else: the first address of each line
)

// A Found is a web address as written in a list, possibly without a scheme.
type Found struct {
	URL string
	At  *orb.Point // coordinates of its object, if the list has them
}

// maxPiece bounds a line, a row, a tag or a value of a list, in bytes.
const maxPiece = 1 << 20

// errPiece is the error for a list with a longer piece.
var errPiece = fmt.Errorf("more than %d bytes without an end", maxPiece)

// Read calls found with each web address of r in the order of the list. The
// first error of found ends it and is returned.
func Read(r io.Reader, found func(Found) error) (Form, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return Lines, err
	}
	if text, ok := bytes.CutPrefix(head, []byte("\ufeff")); ok {
		in.Discard(len(head) - len(text))
		head = text
	}
	head = bytes.TrimLeft(head, " \t\r\n\x1e") // GeoJSON sequences have an RS before each line
	switch {
	case bytes.HasPrefix(head, []byte("{")), bytes.HasPrefix(head, []byte("[")):
		return JSON, readJSON(in, found)
	case bytes.HasPrefix(head, []byte("<")):
		return Markup, readMarkup(in, found)
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if comma := separator(string(first)); comma != 0 {
		return Table, readTable(in, comma, found)
	}
	return Lines, readLines(in, found)
}

// names reports whether a key or column header means web addresses: "website", "contact:website",
// "URL", "Internet", "original" of archives.
func names(key string) bool {
	key = strings.ToLower(strings.Trim(key, "\" \t\r?"))
	switch key {
	case "url", "uri", "www", "web", "link", "original", "contact:url", "internet":
		return true
	}
	for _, part := range []string{"website", "webseite", "homepage", "internetadresse"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}

// absolute matches an address with its scheme within a text, bare an address without a scheme that
// is the whole text.
var (
	absolute = regexp.MustCompile(`(?i)\bhttps?://[^\s\pC\pZ"'<>|\\^{}` + "`" + `]+`)
	bare     = regexp.MustCompile(`^(?:[\pL\pN_-]+\.)+\pL{2,}(?::\d+)?(?:[/?][^\s\pC\pZ"'<>|\\^{}` + "`" + `]*)?$`)
)

// address returns the web address in text without punctuation at its end, or "".
func address(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ".,;:!")
	if text != "" && (absolute.FindString(text) == text || bare.MatchString(text)) {
		return text
	}
	return ""
}

// values calls found with the addresses of a value, separated by ";".
func values(value string, at *orb.Point, found func(Found) error) error {
	for one := range strings.SplitSeq(value, ";") {
		if url := address(one); url != "" {
			if err := found(Found{url, at}); err != nil {
				return err
			}
		}
	}
	return nil
}

// readLines finds the first address of each line: of a list of URLs, of notes, of an archive's
// listing (CDX, CDXJ). Lines with # are comments.
func readLines(r io.Reader, found func(Found) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPiece)
	for lines.Scan() {
		text := lines.Text()
		if strings.HasPrefix(text, "#") {
			continue
		}
		url := address(text)
		if url == "" {
			url = address(absolute.FindString(text))
		}
		if url == "" {
			continue
		}
		if err := found(Found{URL: url}); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errPiece
	}
	return lines.Err()
}
