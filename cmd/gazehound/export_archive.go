package main

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gazehound/crawler/warc"
	"gazehound/gazetteer"

	"github.com/spf13/cobra"
)

func newExportCDXJCommand(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "cdxj [FILE|DIR…]",
		Short: "Write the index of the WARC files of the crawl",
		Long: `Writes a line for every response in the WARC files of the crawl (crawl --warc), or
in those that are named: sortable URL, time, and where the record lies. The lines
are sorted by their bytes (LC_ALL=C sort -c), as pywb and other replay tools
want them.`,
		Example: `  gazehound export cdxj -o all.cdxj
  gazehound export cdxj archive/*.warc.gz`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signals(cmd.Context())
			defer stop()
			archive, err := a.openOwnArchive(args)
			if err != nil {
				return err
			}
			defer archive.Close()
			return a.writeOut(output, func(w io.Writer) error { return writeCDXJ(ctx, archive, w) })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "-", "`FILE` to write; - is standard output")
	return cmd
}

func newExportWACZCommand(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "wacz [FILE|DIR…]",
		Short: "Pack the WARC files of the crawl into one file for replay",
		Long: `Packs the WARC files of the crawl (crawl --warc), or those that are named, with an
index and the list of relevant pages into one WACZ 1.1.1 file, which
replayweb.page and other replay tools open in parts. The same archive gives the
same bytes. After "forget" it has to be made again.`,
		Example: `  gazehound export wacz -o crawl.wacz
  gazehound export wacz archive/*.warc.gz -o some.wacz`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signals(cmd.Context())
			defer stop()
			cfg, err := a.config(nil)
			if err != nil {
				return err
			}
			archive, err := a.openOwnArchive(args)
			if err != nil {
				return err
			}
			defer archive.Close()
			title := cfg.Region.Name
			if r, err := gazetteer.ReadRegion(project{a.data}.region()); err == nil {
				title = cmp.Or(title, r.Name)
			}
			o := warc.WACZOptions{Title: "Crawl of " + title, Software: "gazehound/" + version,
				Index: func(w io.Writer) error { return writeCDXJ(ctx, archive, w) }}
			if title == "" {
				o.Title = "Crawl"
			}
			err = a.writeOut(output, func(w io.Writer) error { return archive.WriteWACZ(ctx, w, o) })
			if errors.Is(err, context.Canceled) {
				return fail(exitStopped, "stopped; the export is not complete")
			} else if err != nil || output == "-" {
				return err
			}
			s := archive.Stats()
			if a.json {
				return a.printJSON(map[string]any{"type": "summary", "format": "wacz", "file": output, "warc_files": s.Files, "captures": s.Responses})
			}
			a.say("%s in %s → %s", several(s.Responses, "capture"), several(s.Files, "WARC file"), output)
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "-", "`FILE` to write; - is standard output")
	return cmd
}

// openOwnArchive opens the named WARC files, or those of the project's crawls.
func (a *app) openOwnArchive(names []string) (*warc.Archive, error) {
	cfg, err := a.config(nil)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		if err := a.needData(); err != nil {
			return nil, err
		}
		if names, err = (project{a.data}).archiveFolders(); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fail(exitNoData, "%s has no WARC files. \"gazehound crawl --warc DIR\" writes them; others can be named", a.data)
		}
	}
	return a.openRecorded(cfg, false, names...)
}

// writeOut has write fill a file, which appears whole or not at all, or
// standard output.
func (a *app) writeOut(name string, write func(io.Writer) error) error {
	buffered := func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(write(b), b.Flush())
	}
	if name == "-" {
		return buffered(a.stdout)
	}
	return exportFile(name, "", buffered)
}

// linesInMemory are sorted at a time: about 100 MB of them.
const linesInMemory = 300_000

// writeCDXJ sorts the index of an archive: in memory as far as that goes,
// then by merging sorted files.
func writeCDXJ(ctx context.Context, archive *warc.Archive, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gazehound-cdxj-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var lines []string
	var runs []*sortedFile
	defer func() {
		for _, r := range runs {
			r.file.Close()
		}
	}()
	spill := func() error {
		f, err := os.CreateTemp(dir, "run")
		if err != nil {
			return err
		}
		runs = append(runs, &sortedFile{file: f})
		slices.Sort(lines)
		b := bufio.NewWriter(f)
		for _, line := range lines {
			b.WriteString(line)
			b.WriteByte('\n')
		}
		lines = lines[:0]
		return b.Flush()
	}
	err = archive.Index(ctx, func(l warc.IndexLine) error {
		lines = append(lines, l.String())
		if len(lines) >= linesInMemory {
			return spill()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		slices.Sort(lines)
		for _, line := range lines {
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		return nil
	}
	if err := spill(); err != nil {
		return err
	}
	return mergeSorted(runs, w)
}

// A sortedFile is a sorted file and its first line that is not written yet.
type sortedFile struct {
	file  *os.File
	lines *bufio.Reader
	line  string
}

// next reads a line; io.EOF behind the last.
func (r *sortedFile) next() (err error) {
	r.line, err = r.lines.ReadString('\n')
	return err
}

// mergeSorted writes the lines of sorted files in order.
func mergeSorted(runs []*sortedFile, w io.Writer) error {
	var waiting runHeap
	for _, r := range runs {
		if _, err := r.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		r.lines = bufio.NewReader(r.file)
		if err := r.next(); err == nil {
			waiting = append(waiting, r)
		} else if err != io.EOF {
			return err
		}
	}
	heap.Init(&waiting)
	for len(waiting) > 0 {
		r := waiting[0]
		if _, err := io.WriteString(w, r.line); err != nil {
			return err
		}
		switch err := r.next(); err {
		case nil:
			heap.Fix(&waiting, 0)
		case io.EOF:
			heap.Pop(&waiting)
		default:
			return err
		}
	}
	return nil
}

// A runHeap has the file with the first line in front.
type runHeap []*sortedFile

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return strings.Compare(h[i].line, h[j].line) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*sortedFile)) }
func (h *runHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
