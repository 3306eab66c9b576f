package warc

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"gazehound/crawler/weburl"
)

// scan puts the responses of a file into the index. Damage ends it with a
// warning, but a file that is damaged from its start is an error.
func (a *Archive) scan(file int, size int64) error {
	r := a.readers.Get().(*reader)
	defer a.readers.Put(r)
	f := a.files[file]
	for offset := int64(0); offset < size; offset = a.ends[file] {
		r.seek(f, offset)
		end, err := a.scanRecord(r, file, offset, size)
		switch {
		case errors.Is(err, errWhole), err != nil && offset == 0:
			return err
		case err != nil:
			a.stats.Warnings = append(a.stats.Warnings, fmt.Sprintf(
				"%s: %v in the record at byte %d of %d; the file is used up to there", f.name, err, offset, size))
			return nil
		}
		a.ends[file] = end
	}
	return nil
}

// scanRecord indexes the record at which r stands, the byte offset of a file,
// and returns where the next one starts. A compressed record is read to its
// end, of a plain one only the header.
func (a *Archive) scanRecord(r *reader, file int, offset, size int64) (end int64, err error) {
	rec, err := r.next(a.gzipped[file])
	if err == io.EOF {
		return 0, io.ErrUnexpectedEOF
	} else if err != nil {
		return 0, err
	}
	var head responseHead
	var headErr error
	if rec.response {
		head, _, headErr = readHead(rec.block)
	}
	if end, err = r.end(rec, a.gzipped[file], offset, size); err != nil {
		return 0, err
	}
	if offset > maxOffset {
		return 0, fmt.Errorf("file longer than %d bytes", int64(maxOffset))
	}

	a.stats.Records++
	if !rec.response {
		return end, nil
	}
	a.stats.Responses++
	if rec.kind == kindRevisit {
		a.stats.Revisits++
	}
	u, err := weburl.Parse(rec.target)
	if err != nil || headErr != nil {
		a.stats.Skipped++
		return end, nil
	}
	k, ok := keyOf(address(u)), head.status >= 200 && head.status < 300
	if old, found := a.index[k]; (!found || ok && !old.ok()) && head.status != http.StatusNotModified {
		a.index[k] = placeOf(file, offset, ok)
	}
	if rec.kind == kindResponse && rec.digest != "" {
		if k := keyOf(rec.digest); a.payloads[k] == 0 {
			a.payloads[k] = placeOf(file, offset, true)
		}
	}
	return end, nil
}

// skipBlank returns the offset of the first byte of f, from offset on, that is
// no line end.
func skipBlank(f io.ReaderAt, offset int64) int64 {
	var b [16]byte
	for {
		n, _ := f.ReadAt(b[:], offset)
		for i := range n {
			if b[i] != '\r' && b[i] != '\n' {
				return offset + int64(i)
			}
		}
		offset += int64(n)
		if n == 0 {
			return offset
		}
	}
}
