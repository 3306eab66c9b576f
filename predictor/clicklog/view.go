package clicklog

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gazehound/internal/disk"

	"github.com/klauspost/compress/s2"
)

// A view is one page view, or with an empty url the mark of a program.
type view struct {
	client uint64
	at     int64 // Unix seconds
	url    string
}

func (v view) compare(w view) int {
	return cmp.Or(cmp.Compare(v.client, w.client), cmp.Compare(v.at, w.at), strings.Compare(v.url, w.url))
}

// write makes a segment of the views that each adds, in order. For each view it
// has the difference of the client to the one before, the time (as a difference
// within a client), and the length of the URL and the URL; packed with S2.
func (s *Store) write(each func(add func(view) error) error) (name string, err error) {
	name = fmt.Sprintf("%08d.views", s.m.Next)
	s.m.Next++
	err = disk.Replace(filepath.Join(s.dir, name), 0o600, func(w io.Writer) error {
		packed := s2.NewWriter(w, s2.WriterConcurrency(1))
		var last view
		var b []byte
		err := each(func(v view) error {
			if v.client != last.client {
				last.at = 0
			}
			b = binary.AppendUvarint(b[:0], v.client-last.client)
			b = binary.AppendVarint(b, v.at-last.at)
			b = disk.AppendString(b, v.url)
			last = v
			_, err := packed.Write(b)
			return err
		})
		if err != nil {
			return err
		}
		return packed.Close()
	})
	if err != nil {
		return "", fmt.Errorf("write click store: %w", err)
	}
	return name, nil
}

// eachView calls fn with the views of all segments, in order of client and time.
func (s *Store) eachView(fn func(view) error) error {
	var sources []func() (view, error)
	for _, name := range s.m.Segments {
		f, err := os.Open(filepath.Join(s.dir, name))
		if err != nil {
			return fmt.Errorf("read click store: %w", err)
		}
		defer f.Close()
		sources = append(sources, readSegment(f))
	}
	return disk.Merge(view.compare, sources, fn)
}

// readSegment returns what reads the next view of a segment, or io.EOF.
func readSegment(f *os.File) func() (view, error) {
	in := bufio.NewReaderSize(s2.NewReader(f, s2.ReaderMaxBlockSize(1<<20)), 64<<10)
	var last view
	return func() (view, error) {
		step, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return view{}, io.EOF
		}
		time, err2 := binary.ReadVarint(in)
		length, err3 := binary.ReadUvarint(in)
		if err = errors.Join(err, err2, err3); err == nil && length > MaxLine {
			err = fmt.Errorf("URL of %d bytes", length)
		}
		var url []byte
		if err == nil {
			url = make([]byte, length)
			_, err = io.ReadFull(in, url)
		}
		if err != nil {
			return view{}, fmt.Errorf("%s is damaged (%w); remove the folder and import the logs again", f.Name(), err)
		}
		if step != 0 {
			last.at = 0
		}
		last = view{client: last.client + step, at: last.at + time, url: string(url)}
		return last, nil
	}
}
