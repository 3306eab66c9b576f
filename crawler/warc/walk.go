package warc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
)

// A Recorded exchange is one response of an archive, in the order in which it
// was written.
type Recorded struct {
	URL      weburl.URL
	At       time.Time      // when it was fetched
	Response *page.Response // nil where Err is set, and where no copy was kept
	Err      error          // why the response cannot be used: ErrTooLarge, ErrLost, damage
	Note     *Note          // what the crawl thought of it; nil in archives of other programs
}

// Walk calls fn with every recorded exchange of all files, in their order, until
// ctx ends or fn fails. It reads one record at a time.
func (a *Archive) Walk(ctx context.Context, fn func(Recorded) error) error {
	var held *Recorded // waits for its note
	var heldID string
	flush := func() error {
		if held == nil {
			return nil
		}
		x := *held
		held = nil
		return fn(x)
	}
	for file := range a.files {
		err := a.records(file, func(r *reader, rec record, _ int64) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			switch {
			case rec.response:
				if err := flush(); err != nil {
					return err
				}
				u, err := weburl.Parse(rec.target)
				if err != nil {
					return nil
				}
				heldID, held = rec.id, &Recorded{URL: u, At: rec.date}
				held.Response, held.Err = a.response(r, rec, u)
			case rec.kind == kindMetadata && rec.media == noteType && held != nil && rec.concurrent == heldID:
				held.Note = readNote(rec.block)
			case rec.kind == kindMetadata && rec.media == noteType && rec.concurrent == "":
				if err := flush(); err != nil {
					return err
				}
				u, err := weburl.Parse(rec.target)
				if n := readNote(rec.block); err == nil && n != nil && n.Outcome != "" {
					return fn(Recorded{URL: u, At: rec.date, Note: n})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return flush()
}

// readNote reads the block of a metadata record, or returns nil.
func readNote(block io.Reader) *Note {
	text, err := io.ReadAll(io.LimitReader(block, maxNote))
	var n Note
	if err != nil || json.Unmarshal(text, &n) != nil {
		return nil
	}
	return &n
}

// maxNote bounds the block of a metadata record, in bytes.
const maxNote = 1 << 20

// records calls fn with every whole record of a file and its offset. Damage
// ends it without an error: Open has warned of it.
func (a *Archive) records(file int, fn func(r *reader, rec record, offset int64) error) error {
	r := a.readers.Get().(*reader)
	defer a.readers.Put(r)
	f := a.files[file]
	for offset := int64(0); offset < a.ends[file]; {
		r.seek(f, offset)
		rec, err := r.next(a.gzipped[file])
		if err == nil {
			err = fn(r, rec, offset)
		}
		end := offset
		if err == nil {
			end, err = r.end(rec, a.gzipped[file], offset, a.ends[file])
		}
		if err != nil {
			return fmt.Errorf("warc: %s, byte %d: %w", f.name, offset, err)
		}
		offset = end
	}
	return nil
}

// An IndexLine is one line of a CDXJ file: where a response lies.
type IndexLine struct {
	Key    string // sortable form of the URL, see SURT
	Time   time.Time
	URL    string
	Mime   string
	Status string
	Digest string
	Length int64 // of the record in the file, in bytes
	Offset int64
	File   string // base name
}

// String returns the line, without its end, as pywb and others read it.
func (l IndexLine) String() string {
	fields, err := json.Marshal(struct {
		URL    string `json:"url"`
		Mime   string `json:"mime"`
		Status string `json:"status"`
		Digest string `json:"digest,omitempty"`
		Length string `json:"length"`
		Offset string `json:"offset"`
		File   string `json:"filename"`
	}{l.URL, l.Mime, l.Status, l.Digest, fmt.Sprint(l.Length), fmt.Sprint(l.Offset), l.File})
	if err != nil {
		panic(err) // strings always marshal
	}
	return fmt.Sprintf("%s %s %s", l.Key, l.Time.UTC().Format("20060102150405"), fields)
}

// WriteCDXJ writes a line for every response and revisit record, sorted by
// their bytes. Memory does not grow with the archive.
func (a *Archive) WriteCDXJ(ctx context.Context, w io.Writer) error {
	return a.sortedIndex(ctx, func(line []byte) error {
		_, err := fmt.Fprintf(w, "%s\n", line)
		return err
	})
}

func (a *Archive) sortedIndex(ctx context.Context, fn func(line []byte) error) error {
	var lines disk.Sorter
	defer lines.Close()
	err := a.Index(ctx, func(l IndexLine) error { return lines.Add([]byte(l.String()), nil) })
	if err != nil {
		return err
	}
	return lines.Each(func(line, _ []byte) error { return fn(line) })
}

// Index calls fn with a line for every response and revisit record, in the
// order of the files.
func (a *Archive) Index(ctx context.Context, fn func(IndexLine) error) error {
	for file, f := range a.files {
		var line *IndexLine
		var start int64
		flush := func(end int64) error {
			if line == nil {
				return nil
			}
			l := *line
			l.Length, line = end-start, nil
			return fn(l)
		}
		err := a.records(file, func(r *reader, rec record, offset int64) error {
			if err := errors.Join(ctx.Err(), flush(offset)); err != nil {
				return err
			}
			if !rec.response {
				return nil
			}
			u, err := weburl.Parse(rec.target)
			if err != nil {
				return nil
			}
			head, _, err := readHead(rec.block)
			if err != nil {
				return nil
			}
			mime, _, _ := strings.Cut(strings.ToLower(head.header.Get("Content-Type")), ";")
			if mime = strings.TrimSpace(mime); mime == "" {
				mime = "unk"
			}
			if rec.kind == kindRevisit {
				mime = "warc/revisit"
			}
			start = offset
			line = &IndexLine{Key: SURT(u), Time: rec.date, URL: u.String(), Mime: mime, Status: fmt.Sprint(head.status),
				Digest: rec.digest, Offset: offset, File: fileName(f.name)}
			return nil
		})
		if err = errors.Join(err, flush(a.ends[file])); err != nil {
			return err
		}
	}
	return nil
}
