package sim

import (
	"bufio"
	"bytes"
	"cmp"
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

// TraceVersion is the version of the traces that are written and read.
const TraceVersion = 1

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
}

type traceLine struct {
	URL       weburl.URL  `json:"url"`
	Status    int         `json:"status,omitempty"`
	To        *weburl.URL `json:"to,omitempty"` // of a redirect
	Failed    string      `json:"failed,omitempty"`
	Forbidden bool        `json:"forbidden,omitempty"`
	Page      bool        `json:"page,omitempty"`
	Relevant  bool        `json:"relevant,omitempty"`
	Addresses []string    `json:"addresses,omitempty"`
	Bytes     int64       `json:"bytes,omitempty"`
	TookMS    int64       `json:"took_ms,omitempty"`
	Content   string      `json:"content,omitempty"` // hash of the text, hexadecimal
	Lang      string      `json:"lang,omitempty"`
	Charset   string      `json:"charset,omitempty"`
	Meta      string      `json:"meta,omitempty"`
	Script    string      `json:"script,omitempty"`
	Links     []traceLink `json:"links,omitempty"`
}

// A traceLink is [URL, anchor, title, around]; empty words at the end are left out.
type traceLink [4]string

func (l traceLink) MarshalJSON() ([]byte, error) {
	n := len(l)
	for n > 1 && l[n-1] == "" {
		n--
	}
	return json.Marshal(l[:n])
}

func (l *traceLink) UnmarshalJSON(text []byte) error {
	var parts []string
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	if len(parts) < 1 || len(parts) > len(l) {
		return fmt.Errorf("link of %d parts, want 1 to %d", len(parts), len(l))
	}
	*l = traceLink{}
	copy(l[:], parts)
	return nil
}

// A Recorder is a crawler.Sink that writes a trace.
type Recorder struct{ file *os.File }

// OpenRecorder starts a trace in a file, or with resume continues the one in it; late reports that
// there was none. Every visit is one line and one Write, so a killed crawl loses no recorded visit. A
// file that is not a trace is left unchanged.
func OpenRecorder(name string, seeds []weburl.URL, resume bool) (r *Recorder, late bool, err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	length := int64(0)
	if info.Size() > 0 {
		if length, err = checkTrace(file); err != nil {
			return nil, false, fmt.Errorf("%s: %w; nothing was written to it", name, err)
		}
	}
	if !resume {
		length = 0
	}
	if err := file.Truncate(length); err != nil {
		return nil, false, err
	}
	if _, err := file.Seek(length, io.SeekStart); err != nil {
		return nil, false, err
	}
	if length == 0 {
		err = writeLine(file, traceHead{Version: TraceVersion, Seeds: seeds})
	}
	return &Recorder{file}, resume && length == 0, err
}

// Close closes the file.
func (r *Recorder) Close() error { return r.file.Close() }

func writeLine(out io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("sim: write trace: %w", err)
	}
	if _, err := out.Write(b.Bytes()); err != nil {
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
	case "redirect":
		l.To = &v.Response.Location
	case "skipped":
		l.Forbidden = v.Outcome.Reason == "robots"
		l.Failed = v.Outcome.Reason
	case "error":
		l.Failed = v.Outcome.Reason
	case "page":
		l.Page, l.Relevant = true, v.Outcome.Relevant
		l.Addresses = AddressIDs(v.Verdict)
		l.Lang, l.Charset, l.Meta, l.Script = v.Page.Lang, v.Page.Charset, v.Page.Meta, v.Page.Script
		l.Content = strconv.FormatUint(hashOf(v.Page.Text), 16)
		l.Links = traceLinks(v.Page.Links)
	}
	return writeLine(r.file, l)
}

func traceLinks(links []page.Link) (list []traceLink) {
	for _, l := range links {
		list = append(list, traceLink{l.To.String(), l.Anchor, l.Title, l.Around})
	}
	return list
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

// checkTrace reads a trace that a crawl is to go on with and returns its
// length without what a kill has cut off in the last line.
func checkTrace(in io.Reader) (length int64, err error) {
	r := bufio.NewReader(in)
	for first := true; ; first = false {
		line, err := r.ReadBytes('\n')
		if first {
			if _, err := readHead(line); err != nil {
				return 0, err
			}
		}
		if errors.Is(err, io.EOF) {
			return length, nil
		}
		if err != nil {
			return 0, fmt.Errorf("sim: read trace: %w", err)
		}
		length += int64(len(line))
	}
}

func readHead(line []byte) (traceHead, error) {
	var head traceHead
	err := json.Unmarshal(line, &head)
	switch {
	case head.Version > TraceVersion:
		return head, fmt.Errorf("%w: it is version %d, this gazehound reads %d", ErrTraceVersion,
			head.Version, TraceVersion)
	case err != nil || head.Version < 1:
		return head, fmt.Errorf("%w: it starts with %q", ErrNoTrace, line[:min(len(line), 60)])
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
	in := bufio.NewReaderSize(f, 1<<20)
	var src io.Reader = in
	switch magic, _ := in.Peek(4); {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("sim: %s: %w", name, err)
		}
		src = z
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, nil, fmt.Errorf("sim: %s: %w", name, err)
		}
		defer z.Close()
		src = z
	}
	return ReadTrace(src, name, label)
}

// ReadTrace reads a trace. Of a URL that comes several times the last line
// counts that tells of a page. A trace that is cut off, as by a kill, is used
// up to there, and a warning says so; anything else that cannot be read is an
// error that names the line. label says in place of the trace what is relevant, from
// language and charsets of a page, since a trace has no text; nil: the trace does.
func ReadTrace(in io.Reader, name string, label Labeller) (w *Web, warnings []string, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxTraceLine)
	whole := true // the last line ended with a line break
	lines.Split(func(data []byte, end bool) (int, []byte, error) {
		n, token, err := bufio.ScanLines(data, end)
		if n > 0 {
			whole = data[n-1] == '\n'
		}
		return n, token, err
	})
	if !lines.Scan() {
		return nil, nil, fmt.Errorf("sim: %s: %w", name, cmp.Or(lines.Err(), ErrNoTrace))
	}
	head, err := readHead(lines.Bytes())
	if err != nil {
		return nil, nil, fmt.Errorf("sim: %s: %w", name, err)
	}
	b := newBuilder()
	n := 1
	for lines.Scan() {
		n++
		var l traceLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.URL.IsZero() {
			if !whole {
				warnings = append(warnings,
					fmt.Sprintf("%s is cut off in line %d; the %d lines before it are used", name, n, n-1))
				break
			}
			if err == nil {
				err = errors.New("no url")
			}
			return nil, nil, fmt.Errorf("sim: %s: line %d: %w", name, n, err)
		}
		if err := b.line(&l, label); err != nil {
			return nil, nil, fmt.Errorf("sim: %s: line %d: %w", name, n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		warnings = append(warnings, fmt.Sprintf("%s is cut off after line %d; the lines before are used", name, n))
	case err != nil:
		return nil, nil, fmt.Errorf("sim: %s: after line %d: %w", name, n, err)
	}
	w, err = b.web(name, head.Seeds)
	return w, warnings, err
}

// line adds one line of a trace; label, unless nil, says what is relevant in its place.
func (b *builder) line(l *traceLine, label Labeller) error {
	if l.Bytes < 0 || l.TookMS < 0 || l.TookMS > int64(time.Hour/time.Millisecond) {
		return fmt.Errorf("%d bytes in %d ms are not possible", l.Bytes, l.TookMS)
	}
	switch {
	case l.To != nil && !l.To.IsZero():
		b.redirect(l.URL, *l.To)
		return nil
	case !l.Page:
		b.failed(l.URL, l.Status, l.Forbidden)
		return nil
	}
	content, _ := strconv.ParseUint(l.Content, 16, 64)
	known := Page{
		URL: l.URL, Relevant: l.Relevant, Addresses: l.Addresses, Bytes: l.Bytes,
		Took: time.Duration(l.TookMS) * time.Millisecond, Content: content,
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
		to, err := weburl.Parse(link[0])
		if err != nil {
			return fmt.Errorf("link %d: %w", i+1, err)
		}
		p.Links[i] = page.Link{From: l.URL, To: to, Anchor: link[1], Title: link[2], Around: link[3]}
	}
	b.page(known, &p)
	return nil
}

// WriteTrace writes the trace of a web of which everything was read, such as
// that of FromWARC or of another trace, in the order of its pages.
func (w *Web) WriteTrace(ctx context.Context, out io.Writer) error {
	if err := writeLine(out, traceHead{Version: TraceVersion, Name: w.Name, Seeds: w.Seeds}); err != nil {
		return err
	}
	for i := range w.pages {
		p := &w.pages[i]
		r, err := w.Fetch(ctx, p.URL)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l := traceLine{
			URL: p.URL, Status: 200, Page: true, Relevant: p.Relevant, Addresses: p.Addresses, Bytes: p.Bytes,
			TookMS: p.Took.Milliseconds(), Content: strconv.FormatUint(p.Content, 16),
		}
		switch {
		case p.Forbidden:
			l = traceLine{URL: p.URL, Failed: "robots", Forbidden: true}
		case err != nil || r.Parsed == nil:
			l = traceLine{URL: p.URL, Failed: "error"}
		default:
			l.Lang, l.Charset = r.Parsed.Lang, r.Parsed.Charset
			l.Meta, l.Script = r.Parsed.Meta, r.Parsed.Script
			l.Links = traceLinks(r.Parsed.Links)
		}
		if err := writeLine(out, l); err != nil {
			return err
		}
	}
	byURL := func(a, b move) int { return strings.Compare(a.from.String(), b.from.String()) }
	for _, m := range slices.SortedFunc(maps.Values(w.moved), byURL) {
		if err := writeLine(out, traceLine{URL: m.from, Status: 301, To: &m.to}); err != nil {
			return err
		}
	}
	return nil
}

// FromTree returns the web as the crawl tree of f knows it: the pages that
// were visited, each with the one link by which it was found. That is less
// than there was: a strategy cannot find another way than the crawl took. A
// trace or WARC files have all links.
func FromTree(ctx context.Context, f *frontier.Frontier, name string) (*Web, error) {
	type node struct {
		known Page
		links []page.Link
	}
	nodes := map[frontier.Key]*node{}
	var order []frontier.Key
	var seeds []weburl.URL
	err := f.Walk(ctx, 0, func(n frontier.Node) error {
		key := frontier.KeyOf(n.URL)
		if n.Depth == 0 {
			seeds = append(seeds, n.URL)
		} else if parent := nodes[n.Parent]; parent != nil {
			parent.links = append(parent.links, page.Link{
				From: parent.known.URL, To: n.URL, Anchor: n.Anchor, Title: n.Title, Around: n.Around,
			})
		}
		if n.Outcome.Kind == "page" && nodes[key] == nil {
			nodes[key] = &node{known: Page{URL: n.URL, Relevant: n.Outcome.Relevant,
				Addresses: n.Outcome.Addresses, Bytes: n.Outcome.Bytes}}
			order = append(order, key)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	b := newBuilder()
	for _, key := range order {
		n := nodes[key]
		b.page(n.known, &page.Page{URL: n.known.URL, Links: n.links})
	}
	return b.web(name, seeds)
}
