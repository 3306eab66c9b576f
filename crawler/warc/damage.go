package warc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"gazehound/internal/textutil"
)

// A span is a part of a file, in bytes.
type span struct{ from, to int64 }

// survey calls fn, which finishes the record, with every record of f whose header can be read, and
// finds end and damage of f. A record that cannot be read to its end is damage up to the next one
// that can be. A file without a whole record is an error.
func (r *reader) survey(f *source, fn func(*scanner)) error {
	s := r.scan(f, f.size)
	for {
		for s.next() {
			fn(s)
			if s.finish() == nil {
				f.end = s.end
			}
		}
		_, disk := errors.AsType[*fs.PathError](s.err)
		switch {
		case s.err == nil && f.end == 0:
			return f.cause
		case s.err == nil:
			return nil
		case disk, s.start == 0 && (errors.Is(s.err, errWhole) || errors.Is(s.err, errARC)):
			return s.err
		}
		if f.cause == nil {
			f.cause = s.err
		}
		err := s.skip()
		if err != nil {
			return err
		}
	}
}

// skip adds the record that could not be read to the damage of the file, with what follows up to
// the next header that can be read, and continues there.
func (s *scanner) skip() error {
	f := s.file
	f.tried += s.reader.file.n - s.start
	to, err := s.nextHeader(f, s.start+1)
	if err != nil {
		return err
	}
	if n := len(f.damage); n > 0 && f.damage[n-1].to == s.start {
		f.damage[n-1].to = to
	} else {
		f.damage = append(f.damage, span{s.start, to})
	}
	s.err, s.end = nil, to
	return nil
}

// A search for whole records in a damaged file reads at most maxTried times its bytes, and takes
// each place that looks like a record for perTry bytes at least.
const (
	maxTried = 8
	perTry   = 4 << 10
)

func (f *source) triedEnough() bool { return f.tried > maxTried*f.size+1<<20 }

// plainMark is the beginning of a record that is not compressed, whatever the line before it is: it may be
// damaged, or be what a broken writer has put between two records.
var plainMark = []byte("\nWARC/1.")

// nextHeader returns where behind a byte of f the next record begins whose header can be read, or
// the size of f.
func (r *reader) nextHeader(f *source, from int64) (int64, error) {
	mark, skip := plainMark, int64(len("\n"))
	if f.zipped {
		mark, skip = gzipMagic, 0
	}
	chunk := make([]byte, 256<<10)
	for f.size-from >= int64(len(mark)) && !f.triedEnough() {
		n, err := f.ReadAt(chunk[:min(int64(len(chunk)), f.size-from)], from)
		if err != nil && err != io.EOF {
			return 0, err
		}
		for at := 0; at < n; at++ {
			i := bytes.Index(chunk[at:n], mark)
			if i < 0 {
				break
			}
			at += i
			begin := from + int64(at) + skip
			r.seek(f, begin)
			_, err := r.next(f.zipped)
			if err == nil {
				return begin, nil
			}
			f.tried += max(perTry, r.file.n-begin)
			if f.triedEnough() {
				return f.size, nil
			}
		}
		from += int64(n - len(mark) + 1)
	}
	return f.size, nil
}

// behindDamage returns the end of the damage that begins at a byte, or the byte.
func (f *source) behindDamage(at int64) int64 {
	i, found := slices.BinarySearchFunc(f.damage, at, func(d span, at int64) int { return cmp.Compare(d.from, at) })
	if found {
		return f.damage[i].to
	}
	return at
}

// isDamaged reports whether a record is lost. The torn end of a file that is being written, or was
// when its program was killed, is none.
func (f *source) isDamaged() bool {
	tail := len(f.damage) == 1 && f.damage[0].to == f.size && strings.HasSuffix(f.name, openExt)
	return len(f.damage) > 0 && !tail
}

// describeDamage returns a sentence about the damage of f, which ends with what became of it, such
// as "left out"; "" if there is none.
func (f *source) describeDamage(became string) string {
	if len(f.damage) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %v in the record at byte %d of %d; %d bytes in %s were %s", f.name, f.cause,
		f.damage[0].from, f.size, f.lost(), textutil.Several(len(f.damage), "place"), became)
}

// lost returns the number of bytes that cannot be read as records.
func (f *source) lost() (bytes int64) {
	for _, d := range f.damage {
		bytes += d.to - d.from
	}
	return bytes
}
