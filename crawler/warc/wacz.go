package warc

import (
	"archive/zip"
	"bytes"
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
	"slices"
	"strings"
	"time"

	"gazehound/crawler/page"
)

// WACZOptions say what a WACZ file holds beside the records.
type WACZOptions struct {
	Title    string // of the collection, for people
	Software string // with version
}

// WriteWACZ packs the archive into one WACZ 1.1.1 file, which replay programs
// open in parts: its WARC files as they are, up to their last whole record, an
// index of every capture, and a list of pages: the relevant ones, where
// gazehound wrote the archive, or else every HTML page. 16 bytes for each page
// and the index of one capture in 3,000 are in memory; of archives without
// notes a line for each page. The same archive gives the same bytes: as the
// time of its making stands that of the newest capture.
//
// https://specs.webrecorder.net/wacz/1.1.1/
func (a *Archive) WriteWACZ(ctx context.Context, w io.Writer, o WACZOptions) error {
	p := &packer{ctx: ctx, zip: zip.NewWriter(w), resources: []resource{}}
	if err := p.pack(ctx, a, o); err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	if err := p.zip.Close(); err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	return nil
}

func (p *packer) pack(ctx context.Context, a *Archive, o WACZOptions) error {
	seen := map[string]bool{}
	for _, f := range a.files {
		name := fileName(f.name)
		if seen[name] {
			return fmt.Errorf("two WARC files have the name %s; the index could not tell them apart", name)
		}
		seen[name] = true
		out, err := p.create("archive/" + name)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, io.NewSectionReader(f, 0, f.end)); err != nil {
			return err
		}
	}
	index := &indexWriter{to: p}
	if err := a.sortedIndex(ctx, index.add); err != nil {
		return err
	}
	if err := index.end(); err != nil {
		return err
	}
	newest, err := p.pages(ctx, a)
	if err != nil {
		return err
	}
	p.end()
	description, err := json.MarshalIndent(dataPackage{
		Profile: "data-package", Version: "1.1.1", Software: o.Software, Title: o.Title, Created: newest.UTC().Format(time.RFC3339), Resources: p.resources,
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := p.write("datapackage.json", description); err != nil {
		return err
	}
	p.end()
	of := p.resources[len(p.resources)-1]
	digest, err := json.MarshalIndent(struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}{of.Path, of.Hash}, "", "  ")
	if err != nil {
		return err
	}
	return p.write("datapackage-digest.json", digest)
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

// A packer writes the files of a WACZ one after the other, stored as they are,
// and notes what they are.
type packer struct {
	ctx       context.Context
	zip       *zip.Writer
	resources []resource

	out  io.Writer // of the file that is being written; nil: none
	sum  hash.Hash
	size int64
}

// create ends the file before and begins another.
func (p *packer) create(name string) (io.Writer, error) {
	p.end()
	out, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return nil, err
	}
	p.resources = append(p.resources, resource{Name: path.Base(name), Path: name})
	p.out, p.sum, p.size = out, sha256.New(), 0
	return p, nil
}

// Write adds to the file that is being written.
func (p *packer) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.out.Write(b)
	p.sum.Write(b[:n])
	p.size += int64(n)
	return n, err
}

// end notes size and hash of the file that was written.
func (p *packer) end() {
	if p.out != nil {
		r := &p.resources[len(p.resources)-1]
		r.Hash, r.Bytes, p.out = "sha256:"+hex.EncodeToString(p.sum.Sum(nil)), p.size, nil
	}
}

// write writes a whole file.
func (p *packer) write(name string, text []byte) error {
	out, err := p.create(name)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
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
func (p *packer) pages(ctx context.Context, a *Archive) (newest time.Time, err error) {
	out, err := p.create("pages/pages.jsonl")
	if err != nil {
		return newest, err
	}
	if _, err := io.WriteString(out, `{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}`+"\n"); err != nil {
		return newest, err
	}
	listed, relevant := map[key]bool{}, false
	var others []pageLine // of archives without notes; written where no page is relevant
	err = a.Walk(ctx, func(x Recorded) error {
		if x.Response == nil {
			return nil
		}
		if x.Response.Fetched.After(newest) {
			newest = x.Response.Fetched
		}
		k := keyOf(address(x.URL))
		switch noted := x.Note != nil && x.Note.Relevant; {
		case listed[k] && (relevant || !noted):
			return nil
		case noted:
			if !relevant {
				relevant, listed, others = true, map[key]bool{}, nil
			}
			listed[k] = true
			return writeLine(out, lineOf(x, k))
		case x.Note == nil && !relevant && isPage(x.Response):
			listed[k] = true
			others = append(others, lineOf(x, k))
		}
		return nil
	})
	for _, l := range others {
		if err == nil {
			err = writeLine(out, l)
		}
	}
	return newest, err
}

func isPage(r *page.Response) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.Status == 200 && err == nil && (media == "text/html" || media == "application/xhtml+xml")
}

func lineOf(x Recorded, k key) pageLine {
	l := pageLine{ID: hex.EncodeToString(k[:8]), URL: x.URL.String(), Time: x.Response.Fetched.UTC().Format(time.RFC3339)}
	if p, err := page.Parse(x.Response); err == nil {
		l.Title = p.Title
	}
	return l
}

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
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
		if err := x.flush(); err != nil {
			return err
		}
	}
	x.block.Write(line)
	x.block.WriteByte('\n')
	x.lines++
	return nil
}

const (
	blocksFile = "index.cdx.gz"
	blocksHead = `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "` + blocksFile + `"}` + "\n"
)

// flush compresses the lines in block.
func (x *indexWriter) flush() error {
	if x.blocks.Len() == 0 {
		if _, err := x.to.create("indexes/" + blocksFile); err != nil {
			return err
		}
		x.blocks.WriteString(blocksHead)
	}
	first, _, _ := bytes.Cut(x.block.Bytes(), []byte(" {"))
	first = slices.Clone(first)
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	z.Write(x.block.Bytes()) // to memory
	if err := z.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(compressed.Bytes())
	fmt.Fprintf(&x.blocks, "%s {\"offset\": %d, \"length\": %d, \"digest\": \"sha256:%x\", \"filename\": %q}\n", first, x.written, compressed.Len(), sum, blocksFile)
	x.written += int64(compressed.Len())
	x.block.Reset()
	x.lines = 0
	_, err := x.to.Write(compressed.Bytes())
	return err
}

// end writes what is left.
func (x *indexWriter) end() error {
	name, rest := "indexes/index.cdx", &x.block
	if x.blocks.Len() > 0 {
		if err := x.flush(); err != nil {
			return err
		}
		name, rest = "indexes/index.idx", &x.blocks
	}
	out, err := x.to.create(name)
	if err != nil {
		return err
	}
	_, err = rest.WriteTo(out)
	return err
}
