package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A trace is a text file: a line of JSON that says what it is, then one line
// for each visit of a crawl, in their order (docs/trace.md). It holds what a
// simulation needs of the web that the crawl saw: pages, labels, links and
// their words, but no text.

// TraceVersion is the version of the traces that are written. Those of version 1, whose links have
// no place, are read, too.
const TraceVersion = 2

// Errors of reading a trace.
var (
	ErrNoTrace      = errors.New("not a trace of gazehound")
	ErrTraceVersion = errors.New("trace of another version")
)

// maxTraceLine bounds a line of a trace, in bytes: 2,000 links with all their
// words fit.
const maxTraceLine = 16 << 20

type traceHead struct {
	Version int          `json:"gazehound_trace"`
	Name    string       `json:"name,omitempty"`
	Seeds   []weburl.URL `json:"seeds"`
	Region  []string     `json:"region,omitempty"` // its names
}

type traceLine struct {
	URL       weburl.URL `json:"url"`
	Status    int        `json:"status,omitempty"`
	To        weburl.URL `json:"to,omitzero"` // of a redirect
	Failed    string     `json:"failed,omitempty"`
	Forbidden bool       `json:"forbidden,omitempty"`
	Page      bool       `json:"page,omitempty"`
	Relevant  bool       `json:"relevant,omitempty"`
	Addresses []string   `json:"addresses,omitempty"`
	Bytes     int64      `json:"bytes,omitempty"`
	TookMS    int64      `json:"took_ms,omitempty"`
	Content   string     `json:"content,omitempty"` // hash of the text, hexadecimal
	Relevancy float64    `json:"relevancy,omitempty"`
	Lang      string     `json:"lang,omitempty"`
	Charset   string     `json:"charset,omitempty"`
	Meta      string     `json:"meta,omitempty"`
	Script    string     `json:"script,omitempty"`
	// each is URL, anchor, title, around, place; empty words at the end are left out
	Links [][]string `json:"links,omitempty"`
}

// describe adds languages and links of a page.
func (l *traceLine) describe(p *page.Page) {
	l.Page, l.Lang, l.Charset, l.Meta, l.Script = true, p.Lang, p.Charset, p.Meta, p.Script
	for _, link := range p.Links {
		parts := []string{link.To.String(), link.Anchor, link.Title, link.Around, link.Place}
		for parts[len(parts)-1] == "" {
			parts = parts[:len(parts)-1]
		}
		l.Links = append(l.Links, parts)
	}
}

// A Recorder is a crawler.Sink that writes a trace.
type Recorder struct{ file *os.File }

// OpenRecorder starts a trace in a file, or with resume continues the one in it; late reports that
// there was none. Every visit is one line and one Write, so a killed crawl loses no recorded visit. A
// file that is not a trace is left unchanged.
func OpenRecorder(name string, seeds []weburl.URL, region []string, resume bool) (r *Recorder, late bool, err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, false, err
	}
	length, err := wholeLines(file)
	if err != nil {
		err = fmt.Errorf("%s: %w; nothing was written to it", name, err)
	}
	if !resume {
		length = 0
	}
	if err == nil {
		err = file.Truncate(length)
	}
	if err == nil {
		_, err = file.Seek(length, io.SeekStart)
	}
	if err == nil && length == 0 {
		err = writeLine(file, traceHead{Version: TraceVersion, Seeds: seeds, Region: region})
	}
	if err != nil {
		file.Close()
		return nil, false, err
	}
	return &Recorder{file}, resume && length == 0, nil
}

// wholeLines returns the length of a trace without what a kill has cut off in the last
// line, and an error if it is none; an empty file is one.
func wholeLines(in io.Reader) (length int64, err error) {
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	if len(line) > 0 {
		if _, err := readHead(line); err != nil {
			return 0, err
		}
	}
	for ; err == nil; line, err = r.ReadBytes('\n') {
		length += int64(len(line))
	}
	if !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("sim: read trace: %w", err)
	}
	return length, nil
}

// Close closes the file.
func (r *Recorder) Close() error { return r.file.Close() }

func writeLine(out io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err != nil {
		return fmt.Errorf("sim: write trace: %w", err)
	}
	_, err = out.Write(b.Bytes())
	if err != nil {
		return fmt.Errorf("sim: write trace: %w", err)
	}
	return nil
}

// Visit writes what a visit met.
func (r *Recorder) Visit(_ context.Context, v *crawler.Visit) error {
	l := traceLine{URL: v.Entry.URL, Status: v.Outcome.Status, Bytes: v.Outcome.Bytes}
	if v.Response != nil {
		l.TookMS = v.Response.Took.Milliseconds()
	}
	switch v.Outcome.Kind {
	case frontier.KindRedirect:
		l.To = v.Response.Location
	case frontier.KindSkipped:
		l.Forbidden = v.Outcome.Reason == "robots"
		l.Failed = v.Outcome.Reason
	case frontier.KindError:
		l.Failed = v.Outcome.Reason
	case frontier.KindPage:
		l.Relevant, l.Addresses = v.Outcome.Relevant, AddressIDs(v.Verdict)
		l.Content = strconv.FormatUint(hashOf(v.Page.Text), 16)
		l.describe(v.Page)
	}
	return writeLine(r.file, l)
}

// AddressIDs returns the ids of a verdict's distinct addresses in the region,
// as Page.Addresses wants them.
func AddressIDs(v geoparse.Verdict) []string {
	var ids []string
	seen := map[string]bool{}
	for _, a := range v.Addresses {
		parts := a.Parts().Folded()
		id := parts.Key()
		if !a.Counts() || seen[id] || len(ids) == frontier.MaxAddresses {
			continue
		}
		seen[id] = true
		if parts.Street != "" {
			id = parts.Street + "\x00" + id
		}
		ids = append(ids, id)
	}
	return ids
}

func readHead(line []byte) (traceHead, error) {
	var head traceHead
	err := json.Unmarshal(line, &head)
	switch {
	case head.Version > TraceVersion:
		return head, fmt.Errorf("%w: it is version %d, this gazehound reads %d", ErrTraceVersion,
			head.Version, TraceVersion)
	case err != nil || head.Version < 1:
		return head, fmt.Errorf("%w: it starts with %q", ErrNoTrace, bytes.TrimSpace(line[:min(len(line), 60)]))
	case slices.ContainsFunc(head.Seeds, weburl.URL.IsZero):
		return head, errors.New("line 1: a seed is empty")
	}
	return head, nil
}

// OpenTrace reads the trace in a file, plain or compressed by gzip or zstd.
func OpenTrace(name string, label Labeller) (w *Web, warnings []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("sim: %w", err)
	}
	defer f.Close()
	src, err := unpacked(bufio.NewReader(f))
	if err != nil {
		return nil, nil, fmt.Errorf("sim: %s: %w", name, err)
	}
	defer src.Close()
	return ReadTrace(src, name, label)
}

func unpacked(in *bufio.Reader) (io.ReadCloser, error) {
	switch magic, _ := in.Peek(4); {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(in), nil
}

// ReadTrace reads a trace. Of a URL that comes several times the last line
// that is a page counts. A trace that is cut off, as by a kill, is used
// up to there, and a warning says so; anything else that cannot be read is an
// error that names the line. label says in place of the trace what is relevant, from
// language and charsets of a page, since a trace has no text; nil: the trace does.
func ReadTrace(in io.Reader, name string, label Labeller) (w *Web, warnings []string, err error) {
	lines := bufio.NewReaderSize(in, maxTraceLine)
	line, end := lines.ReadSlice('\n')
	head, err := readHead(line)
	if err != nil {
		return nil, nil, fmt.Errorf("sim: %s: %w", name, err)
	}
	w = newWeb(name, head.Seeds)
	w.Region = head.Region
	for n := 2; end == nil; n++ {
		line, end = lines.ReadSlice('\n')
		cut := errors.Is(end, io.ErrUnexpectedEOF)
		if end != nil && !cut && !errors.Is(end, io.EOF) {
			return nil, nil, fmt.Errorf("sim: %s: after line %d: %w", name, n-1, end)
		}
		var l traceLine
		err := json.Unmarshal(line, &l)
		switch {
		case len(line) == 0 && !cut:
			continue
		case err != nil && end != nil:
			warnings = append(warnings,
				fmt.Sprintf("%s is cut off in line %d; the %d lines before it are used", name, n, n-1))
			continue
		case err == nil && l.URL.IsZero():
			err = errors.New("no url")
		case err == nil:
			err = w.addLine(&l, label)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("sim: %s: line %d: %w", name, n, err)
		}
	}
	return w, warnings, w.connect()
}

// addLine adds one line of a trace; label, unless nil, says what is relevant in its place.
func (w *Web) addLine(l *traceLine, label Labeller) error {
	if l.Bytes < 0 || l.TookMS < 0 || l.TookMS > int64(time.Hour/time.Millisecond) {
		return fmt.Errorf("%d bytes in %d ms are not possible", l.Bytes, l.TookMS)
	}
	switch {
	case !l.To.IsZero():
		w.addRedirect(l.URL, l.To)
		return nil
	case !l.Page:
		w.addFailed(l.URL, l.Status, l.Forbidden)
		return nil
	}
	content, _ := strconv.ParseUint(l.Content, 16, 64)
	known := Page{
		URL: l.URL, Relevant: l.Relevant, Addresses: l.Addresses, Bytes: l.Bytes,
		Took: time.Duration(l.TookMS) * time.Millisecond, Content: content, Relevancy: l.Relevancy,
	}
	p := page.Page{
		URL: l.URL, Lang: l.Lang, Charset: l.Charset, Meta: l.Meta, Script: l.Script,
		Links: make([]page.Link, len(l.Links)),
	}
	if label != nil {
		said, err := label(&p)
		if err != nil {
			return err
		}
		known.Relevant, known.Addresses = said.Relevant, said.Addresses
	}
	for i, link := range l.Links {
		if len(link) < 1 || len(link) > 5 {
			return fmt.Errorf("link %d is a link of %d parts, want 1 to 5", i+1, len(link))
		}
		to, err := weburl.Parse(link[0])
		if err != nil {
			return fmt.Errorf("link %d: %w", i+1, err)
		}
		words := [5]string{}
		copy(words[:], link)
		p.Links[i] = page.Link{From: l.URL, To: to, Anchor: words[1], Title: words[2], Around: words[3],
			Place: words[4]}
	}
	w.addPage(known, &p)
	return nil
}

// WriteTrace writes the trace of a web of which everything was read, such as
// that of FromWARC or of another trace, in the order of its pages: of what was
// visited, as Options.Visited notes it, or of all with nil.
func (w *Web) WriteTrace(ctx context.Context, out io.Writer, visited map[frontier.Key]bool) error {
	err := writeLine(out, traceHead{Version: TraceVersion, Name: w.Name, Seeds: w.Seeds, Region: w.Region})
	if err != nil {
		return err
	}
	has := func(u weburl.URL) bool { return visited == nil || visited[frontier.KeyOf(u)] }
	for i := range w.pages {
		p := &w.pages[i]
		if !has(p.URL) {
			continue
		}
		r, err := w.Fetch(ctx, p.URL)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l := traceLine{URL: p.URL, Failed: "error"}
		switch {
		case p.Forbidden:
			l.Failed, l.Forbidden = "robots", true
		case err == nil && r.Parsed != nil:
			l = traceLine{URL: p.URL, Status: 200, Relevant: p.Relevant, Addresses: p.Addresses, Bytes: p.Bytes,
				TookMS: p.Took.Milliseconds(), Content: strconv.FormatUint(p.Content, 16), Relevancy: p.Relevancy}
			l.describe(r.Parsed)
		}
		err = writeLine(out, l)
		if err != nil {
			return err
		}
	}
	byURL := func(a, b move) int { return strings.Compare(a.from.String(), b.from.String()) }
	for _, m := range slices.SortedFunc(maps.Values(w.moved), byURL) {
		if !has(m.from) {
			continue
		}
		err := writeLine(out, traceLine{URL: m.from, Status: 301, To: m.to})
		if err != nil {
			return err
		}
	}
	return nil
}
