package warc

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gazehound/internal/check"
	"gazehound/internal/textutil"
)

// Check checks the ends of the WARC files of a project, where a torn write would be, and whether
// all files are there that its manifest lists; running: a crawl may be writing.
func Check(m *Manifest, running bool) (found []check.Finding) {
	const name = "archive"
	add := func(f check.Finding) { found = append(found, f) }
	if lacks, err := m.lacks(); err != nil {
		add(check.Broken(name, "", "%v", err))
	} else if len(lacks) > 0 {
		add(check.Broken(name, "put them back; # before a line says that it is gone on purpose",
			"%s lacks %s, such as %s", m.name, textutil.Several(len(lacks), "line"), lacks[0]))
	}
	for _, path := range m.gone() {
		add(check.Broken(name, "bring it back, or put # before its line in "+m.name, "%s no longer exists", path))
	}
	for _, l := range m.files() {
		if info, err := os.Stat(l.path); err == nil && info.Size() < l.size {
			add(check.Broken(name, "copy it from where it is whole", "%s lacks %d of %d bytes", l.path,
				l.size-info.Size(), l.size))
		} else if _, now, err := printOf(l.path); err == nil && now != l.print {
			add(check.Broken(name, "bring back the file that was there, or put # before its line in "+m.name,
				"%s is another file than that in %s", l.path, m.name))
		}
	}
	for _, dir := range m.Folders() {
		add(checkFolder(dir, m.name, running))
	}
	return found
}

// checkFolder checks the ends of the files of a folder that is named in a list.
func checkFolder(dir, list string, running bool) check.Finding {
	const name = "archive"
	whole, open, torn, err := checkEnds(dir)
	files := textutil.Several(whole+len(torn), "WARC file")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return check.Doubt(name, "bring it back, or put # before its line in "+list+" if it is gone on purpose",
			"the folder %s no longer exists", dir)
	case err != nil:
		return check.Broken(name, "", "%v", err)
	case len(torn) > 0:
		return check.Broken(name, "everything before the tear can be read; copy the file from where it is whole",
			"%s: %s, of which %d torn: %s", dir, files, len(torn), torn[0])
	case len(open) > 0 && !running:
		return check.Doubt(name, "the next crawl --warc cuts a torn record off and gives it its name",
			"%s: %s left open: %s", dir, textutil.Several(len(open), "WARC file"), open[0])
	}
	return check.Well(name, "%s: %s, no torn end", dir, files)
}

// CheckRecords reads every record of the WARC files of a folder.
func CheckRecords(ctx context.Context, dir string) check.Finding {
	const name = "records"
	damage, err := findDamage(ctx, dir)
	switch {
	case err != nil:
		return check.Broken(name, "", "%v", err)
	case damage != "":
		return check.Broken(name, "all other records can be read; copy the file from where it is whole", "%s", damage)
	}
	return check.Well(name, "%s: all can be read", dir)
}

// findDamage reads every record of the WARC files of a folder, and returns a sentence about the
// damage of the first file that lacks some, or "".
func findDamage(ctx context.Context, dir string) (damage string, err error) {
	names, err := expand([]string{dir})
	if err != nil {
		return "", err
	}
	for _, name := range names {
		damage, err = checkWhole(name)
		if err != nil || damage != "" {
			return damage, err
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
	return "", nil
}

// checkWhole describes the damage of one file.
func checkWhole(name string) (damage string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("warc: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("warc: %w", err)
	}
	f := &source{ReaderAt: file, name: name, size: info.Size(), zipped: strings.HasSuffix(fileName(name), fileExt)}
	altered, first := 0, int64(0)
	err = newReader().survey(f, func(s *scanner) {
		if f.zipped || !s.record.isAltered() { // gzip has sums of its own
			return
		}
		altered++
		if altered == 1 {
			first = s.start
		}
	})
	switch {
	case err != nil:
		return "", err
	case f.isDamaged():
		return f.describeDamage("lost"), nil
	case altered > 0:
		return fmt.Sprintf("%s: %s of another content than WARC-Block-Digest says, the first at byte %d", name,
			textutil.Several(altered, "record"), first), nil
	}
	return "", nil
}

// blockSums are the algorithms of WARC-Block-Digest that are compared.
var blockSums = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New,
}

// isAltered reads the block and reports whether it differs from what its digest says, which may be in
// base 32 or hexadecimal. A record without a digest of a known algorithm, or one that is cut short,
// does not.
func (rec *record) isAltered() bool {
	algorithm, stated, _ := strings.Cut(rec.blockSum, ":")
	newSum := blockSums[strings.ReplaceAll(strings.ToLower(algorithm), "-", "")]
	if newSum == nil || stated == "" {
		return false
	}
	sum := newSum()
	n, err := io.Copy(sum, rec.block)
	if err != nil || n < rec.length {
		return false
	}
	is := sum.Sum(nil)
	inBase32 := strings.TrimRight(base32.StdEncoding.EncodeToString(is), "=")
	return !strings.EqualFold(strings.TrimRight(stated, "= "), inBase32) &&
		!strings.EqualFold(strings.TrimSpace(stated), hex.EncodeToString(is))
}

// checkEnds reads the last record only of each *.warc.gz in a folder. It counts those that are
// whole, and names those that are open, because they are being written or a program was killed, and
// those that end in the middle of a record.
func checkEnds(dir string) (whole int, open, torn []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("warc: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, fileExt+openExt) {
			open = append(open, name)
		}
		if !strings.HasSuffix(name, fileExt) {
			continue
		}
		ends, err := endsWhole(filepath.Join(dir, name))
		if err != nil {
			return 0, nil, nil, fmt.Errorf("warc: %w", err)
		}
		if ends {
			whole++
		} else {
			torn = append(torn, name)
		}
	}
	return whole, open, torn, nil
}

// gzipMagic begins a gzip member with deflate.
var gzipMagic = []byte{0x1f, 0x8b, 8}

// maxTail bounds the search for the last record, in bytes from the end of a file.
const maxTail = 64 << 20

// endsWhole reports whether the last member of a gzip file is a whole record.
// Members are recognised by their first bytes; what only looks like one inside of
// compressed data cannot be read as a record.
func endsWhole(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	from := max(0, info.Size()-maxTail)
	tail := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(tail, from); err != nil {
		return false, err
	}
	r := newReader()
	for i := bytes.LastIndex(tail, gzipMagic); i >= 0; i = bytes.LastIndex(tail[:i], gzipMagic) {
		r.seek(f, from+int64(i))
		rec, err := r.next(true)
		if err == nil && r.finish(rec) == nil {
			return r.file.n == info.Size(), nil
		}
	}
	return false, nil
}
