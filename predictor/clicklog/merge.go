package clicklog

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/s2"
)

// A merger streams the views of several segments in order of client and time.
type merger struct {
	parts []*segment // a heap, the one with the smallest view first
	err   error
}

// A segment is one segment being read.
type segment struct {
	name string
	file *os.File
	in   *bufio.Reader
	view view // the next one
}

func (m *merger) Len() int           { return len(m.parts) }
func (m *merger) Less(i, j int) bool { return m.parts[i].view.compare(m.parts[j].view) < 0 }
func (m *merger) Swap(i, j int)      { m.parts[i], m.parts[j] = m.parts[j], m.parts[i] }
func (m *merger) Push(x any)         { m.parts = append(m.parts, x.(*segment)) }
func (m *merger) Pop() any {
	last := m.parts[len(m.parts)-1]
	m.parts = m.parts[:len(m.parts)-1]
	return last
}

// merge opens the segments of these names.
func (s *Store) merge(names []string) (*merger, error) {
	m := &merger{}
	for _, name := range names {
		f, err := os.Open(filepath.Join(s.dir, name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read click store: %w", err), m.close())
		}
		p := &segment{name: name, file: f, in: bufio.NewReaderSize(s2.NewReader(f, s2.ReaderMaxBlockSize(1<<20)), 64<<10)}
		m.parts = append(m.parts, p)
		if err := p.read(); err != nil {
			return nil, errors.Join(fmt.Errorf("read click store: %w", err), m.close())
		}
	}
	heap.Init(m)
	return m, nil
}

// next returns the next view; false at the end and when err is set.
func (m *merger) next() (view, bool) {
	if len(m.parts) == 0 || m.err != nil {
		return view{}, false
	}
	p := m.parts[0]
	v := p.view
	switch err := p.read(); err {
	case nil:
		heap.Fix(m, 0)
	case io.EOF:
		heap.Pop(m)
		p.file.Close() // it was only read
	default:
		m.err = fmt.Errorf("read click store: %w", err)
		return view{}, false
	}
	return v, true
}

// close closes what a merge that ended early left open.
func (m *merger) close() error {
	var err error
	for _, p := range m.parts {
		err = errors.Join(err, p.file.Close())
	}
	m.parts = nil
	return err
}

// read reads the next view of a segment; io.EOF after the last.
func (p *segment) read() error {
	step, err := binary.ReadUvarint(p.in)
	if err == io.EOF {
		return io.EOF
	}
	damaged := func(err error) error {
		return fmt.Errorf("%s is damaged (%w); remove the folder and import the logs again", p.file.Name(), err)
	}
	if err != nil {
		return damaged(err)
	}
	prev := p.view
	if step != 0 {
		prev.at = 0
	}
	at, err := binary.ReadVarint(p.in)
	if err != nil {
		return damaged(err)
	}
	n, err := binary.ReadUvarint(p.in)
	if err != nil {
		return damaged(err)
	}
	if n > MaxLine {
		return damaged(fmt.Errorf("URL of %d bytes", n))
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(p.in, b); err != nil {
		return damaged(err)
	}
	p.view = view{client: prev.client + step, at: prev.at + at, url: string(b)}
	return nil
}
