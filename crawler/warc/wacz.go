package warc

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"mime"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gazehound/crawler/page"
)

// WACZOptions are the metadata of a WACZ file.
type WACZOptions struct {
	Title    string // of the collection, for people
	Software string // with version
}

// WriteWACZ packs the archive into one WACZ 1.1.1 file, which replay programs open in parts: its
// WARC files as they are, up to their last whole record, an index of every capture, and a list of
// pages: the relevant ones, where gazehound wrote the archive, or else every HTML page. 16 bytes
// for each page and the index of one capture in 3,000 are in memory; of archives without notes a
// line for each page. The same archive gives the same bytes: the creation time is that of the
// newest capture.
//
// https://specs.webrecorder.net/wacz/1.1.1/
func (a *Archive) WriteWACZ(ctx context.Context, w io.Writer, o WACZOptions) error {
	p := &packer{ctx: ctx, zip: zip.NewWriter(w), resources: []resource{}}
	p.archives(a)
	index := &indexWriter{to: p}
	p.fail(a.sortedIndex(ctx, index.add))
	index.end()
	newest := p.pages(a)
	p.describe(o, newest)
	p.fail(p.zip.Close())
	if p.err != nil {
		return fmt.Errorf("wacz: %w", p.err)
	}
	return nil
}

// fileName is the name of a WARC file within an index: without folder, and as
// it is called once it is ended.
func fileName(name string) string { return strings.TrimSuffix(filepath.Base(name), openExt) }

// A dataPackage is the content of datapackage.json.
type dataPackage struct {
	Profile   string     `json:"profile"`
	Version   string     `json:"wacz_version"`
	Title     string     `json:"title"`
	Software  string     `json:"software"`
	Created   string     `json:"created"`
	Resources []resource `json:"resources"`
}

// A resource is one file of a WACZ.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"` // "sha256:" and hex digits
	Bytes int64  `json:"bytes"`
}

// A packer writes the files of a WACZ one after the other, uncompressed, and records their sizes
// and hashes. After its first error it writes nothing more.
type packer struct {
	ctx       context.Context
	zip       *zip.Writer
	resources []resource
	err       error

	out  io.Writer // of the file that is being written; nil: none
	sum  hash.Hash
	size int64
}

// fail keeps the first error.
func (p *packer) fail(err error) { p.err = cmp.Or(p.err, err) }

// create ends the file before and begins another.
func (p *packer) create(name string) {
	p.end()
	out, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	p.fail(err)
	p.resources = append(p.resources, resource{Name: path.Base(name), Path: name})
	p.out, p.sum, p.size = out, sha256.New(), 0
}

// Write adds to the file that is being written.
func (p *packer) Write(b []byte) (n int, err error) {
	p.fail(p.ctx.Err())
	if p.err == nil {
		n, p.err = p.out.Write(b)
		p.sum.Write(b[:n])
		p.size += int64(n)
	}
	return n, p.err
}

// end records size and hash of the finished file.
func (p *packer) end() {
	if p.out != nil {
		r := &p.resources[len(p.resources)-1]
		r.Hash, r.Bytes, p.out = "sha256:"+hex.EncodeToString(p.sum.Sum(nil)), p.size, nil
	}
}

// writeJSON adds a value and the end of its line.
func (p *packer) writeJSON(v any, indent string) {
	e := json.NewEncoder(p)
	e.SetIndent("", indent)
	p.fail(e.Encode(v))
}

func (p *packer) archives(a *Archive) {
	seen := map[string]bool{}
	for _, f := range a.files {
		name := fileName(f.name)
		if seen[name] {
			p.fail(fmt.Errorf("two WARC files have the name %s; the index could not tell them apart", name))
		}
		seen[name] = true
		p.create("archive/" + name)
		_, err := io.Copy(p, io.NewSectionReader(f, 0, f.end))
		p.fail(err)
	}
}

// describe writes the list of all files, and its own hash.
func (p *packer) describe(o WACZOptions, newest time.Time) {
	p.end()
	list := dataPackage{
		Profile: "data-package", Version: "1.1.1", Software: o.Software, Title: o.Title,
		Created: newest.UTC().Format(time.RFC3339), Resources: p.resources,
	}
	p.create("datapackage.json")
	p.writeJSON(list, "  ")
	p.end()
	of := p.resources[len(p.resources)-1]
	p.create("datapackage-digest.json")
	p.writeJSON(struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}{of.Path, of.Hash}, "  ")
}

// A pageLine is one line of pages.jsonl.
type pageLine struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Time  string `json:"ts"`
	Title string `json:"title,omitempty"`
}

// pages lists the pages for people, each where it was captured first, and
// returns the time of the newest capture.
func (p *packer) pages(a *Archive) (newest time.Time) {
	p.create("pages/pages.jsonl")
	io.WriteString(p, `{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}`+"\n")
	listed, relevant := map[key]bool{}, false
	var others []pageLine // of archives without notes; written where no page is relevant
	p.fail(a.Walk(p.ctx, func(x Recorded) error {
		if x.Response == nil {
			return nil
		}
		if x.Response.Fetched.After(newest) {
			newest = x.Response.Fetched
		}
		k := keyOf(address(x.URL))
		switch noted := x.Note != nil && x.Note.Relevant; {
		case listed[k] && (relevant || !noted):
		case noted:
			if !relevant {
				relevant, listed, others = true, map[key]bool{}, nil
			}
			listed[k] = true
			p.writeJSON(lineOf(x, k), "")
		case x.Note == nil && !relevant && isPage(x.Response):
			listed[k] = true
			others = append(others, lineOf(x, k))
		}
		return p.err
	}))
	for _, l := range others {
		p.writeJSON(l, "")
	}
	return newest
}

func isPage(r *page.Response) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.Status == 200 && err == nil && (media == "text/html" || media == "application/xhtml+xml")
}

func lineOf(x Recorded, k key) pageLine {
	at := x.Response.Fetched.UTC().Format(time.RFC3339)
	l := pageLine{ID: hex.EncodeToString(k[:8]), URL: x.URL.String(), Time: at}
	if p, err := page.Parse(x.Response); err == nil {
		l.Title = p.Title
	}
	return l
}

// blockLines are the lines of an index that are compressed together.
const blockLines = 3000

// An indexWriter makes the index of a WACZ from its sorted lines: one file
// where it is short, or else blocks that are compressed one by one and a file
// with the first line of each (ZipNum).
type indexWriter struct {
	to      *packer
	block   bytes.Buffer // lines that are not written yet
	lines   int          // in block
	blocks  bytes.Buffer // a line for each block that is
	written int64
}

// add takes one line.
func (x *indexWriter) add(line []byte) error {
	if x.lines == blockLines {
		x.flush()
	}
	x.block.Write(line)
	x.block.WriteByte('\n')
	x.lines++
	return x.to.err
}

const (
	blocksFile = "index.cdx.gz"
	blocksHead = `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "` + blocksFile + `"}` + "\n"
)

// flush compresses the lines in block.
func (x *indexWriter) flush() {
	if x.blocks.Len() == 0 {
		x.to.create("indexes/" + blocksFile)
		x.blocks.WriteString(blocksHead)
	}
	first, _, _ := bytes.Cut(x.block.Bytes(), []byte(" {"))
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	z.Write(x.block.Bytes()) // to memory
	z.Close()
	fmt.Fprintf(&x.blocks, `%s {"offset": %d, "length": %d, "digest": "sha256:%x", "filename": %q}`+"\n",
		first, x.written, compressed.Len(), sha256.Sum256(compressed.Bytes()), blocksFile)
	x.written += int64(compressed.Len())
	x.block.Reset()
	x.lines = 0
	compressed.WriteTo(x.to)
}

// end writes what is left.
func (x *indexWriter) end() {
	name, rest := "indexes/index.cdx", &x.block
	if x.blocks.Len() > 0 {
		x.flush()
		name, rest = "indexes/index.idx", &x.blocks
	}
	x.to.create(name)
	rest.WriteTo(x.to)
}
