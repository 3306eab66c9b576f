package warc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
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
	Note     *Note          // outcome of the recording crawl; nil in archives of other programs
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
	err := a.each(ctx, func(s *scanner) error {
		rec := &s.record
		isNote := rec.kind == kindMetadata && rec.media == noteType
		if isNote && held != nil && rec.concurrent == heldID {
			held.Note = readNote(rec.block)
			return nil
		}
		if rec.kind == kindConversion && rec.media == renderedType && held != nil && rec.original == heldID &&
			held.Response != nil {
			held.Response.Rendered, held.Err = io.ReadAll(io.LimitReader(rec.block, a.MaxBody))
			return nil
		}
		if !rec.response && !(isNote && rec.concurrent == "") {
			return nil
		}
		if err := flush(); err != nil {
			return err
		}
		u, err := weburl.Parse(rec.target)
		if err != nil {
			return nil
		}
		if rec.response {
			heldID, held = rec.id, &Recorded{URL: u, At: rec.date}
			held.Response, held.Err = a.response(s.reader, *rec, u)
			return nil
		}
		n := readNote(rec.block)
		if n != nil && n.Outcome != "" {
			return fn(Recorded{URL: u, At: rec.date, Note: n})
		}
		return nil
	})
	return cmp.Or(err, flush())
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

// each calls fn with every whole record of all files. Damage is left out: Open has warned of it.
func (a *Archive) each(ctx context.Context, fn func(*scanner) error) error {
	r := a.readers.Get().(*reader)
	defer a.readers.Put(r)
	for _, f := range a.files {
		s := r.scan(f, f.end)
		for s.next() {
			if err := cmp.Or(ctx.Err(), fn(s)); err != nil {
				return err
			}
		}
		if s.err != nil {
			return fmt.Errorf("warc: %s, byte %d: %w", f.name, s.start, s.err)
		}
	}
	return nil
}

// An IndexLine is one line of a CDXJ file: where a response lies.
type IndexLine struct {
	Key    string    `json:"-"` // sortable form of the URL, see SURT
	Time   time.Time `json:"-"`
	URL    string    `json:"url"`
	Mime   string    `json:"mime"`
	Status int       `json:"status,string"`
	Digest string    `json:"digest,omitempty"`
	Length int64     `json:"length,string"` // of the record in the file, in bytes
	Offset int64     `json:"offset,string"`
	File   string    `json:"filename"` // base name
}

// String returns the line, without its end, as pywb and others read it.
func (l IndexLine) String() string {
	fields, err := json.Marshal(l)
	if err != nil {
		panic(err) // strings and numbers always marshal
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
	return a.each(ctx, func(s *scanner) error {
		rec := &s.record
		u, err := weburl.Parse(rec.target)
		if err != nil || !rec.response {
			return nil
		}
		head, _, err := readHead(rec.block)
		if err != nil {
			return nil
		}
		media, _, _ := strings.Cut(strings.ToLower(head.header.Get("Content-Type")), ";")
		media = cmp.Or(strings.TrimSpace(media), "unk")
		if rec.kind == kindRevisit {
			media = "warc/revisit"
		}
		err = s.finish()
		if err != nil {
			return err
		}
		return fn(IndexLine{
			Key: SURT(u), Time: rec.date, URL: u.String(), Mime: media, Status: head.status,
			Digest: rec.digest, Length: s.end - s.start, Offset: s.start, File: fileName(s.file.name),
		})
	})
}

// SURT returns the sortable form of a URL that indexes of web archives are
// ordered by, such as "com,example)/path?a=1&b=2" for
// https://www.example.com/Path?b=2&a=1: the host's labels backwards without
// "www", no scheme, lower case, the query in order. Captures of one page share
// a key whatever spelling it was fetched by.
func SURT(u weburl.URL) string {
	host := u.Hostname()
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil {
		labels := strings.Split(wwwPrefix.ReplaceAllString(host, ""), ".")
		slices.Reverse(labels)
		host = strings.Join(labels, ",")
	}
	path := strings.ToLower(u.Path())
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	key := host + strings.TrimPrefix(u.Host(), u.Hostname()) + ")" + path
	if q := u.Query(); q != "" {
		fields := strings.Split(strings.ToLower(q), "&")
		slices.Sort(fields)
		key += "?" + strings.Join(fields, "&")
	}
	return key
}

var wwwPrefix = regexp.MustCompile(`^www\d*\.`)
