package predictor

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of Load, wrapped with the file's name. A missing file is
// fs.ErrNotExist.
var (
	ErrForeign     = errors.New("not a predictor model")
	ErrNewerFormat = errors.New("written by a newer gazehound: update the program")
	ErrFeatures    = errors.New("trained on other link features: train it again with gazehound retrain")
	ErrDamaged     = errors.New("damaged or cut off: restore a copy, or train it again with gazehound retrain")
)

// A model file is the magic line, then unsigned varints: format, feature set,
// and for each of MaxDepth depths the links learned (relevant, other) and the
// number of terms; then each term as length, bytes, count on relevant links
// and count on others, in the order of learning. Since format 2 the worth of
// links follows: links learned, then weight and slope of each input (float64),
// the number of term slots in use and each as its distance from the one
// before, weight and slope (float32); then pages and worth (float32) of all
// pages, and for hosts and for shapes their number and each as hash (8 bytes),
// pages and worth, those met long ago first. The last four bytes are the CRC-32C of all before
// them; that and all numbers of fixed size are big-endian.
const (
	magic  = "gazehound predictor\n"
	format = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// snapshotTerms is how many counts a Save reads in one go. Readers and writers
// of the model wait no longer than that takes, well under a millisecond each.
const snapshotTerms = 1024

// Save writes the model to path: to a new file beside it, which takes its name
// when it is safely on disk, so that a crash leaves either the old model or the
// new one. The crawl goes on while it is written; a page that is learned in the
// meantime may be in the file with only some of its terms. No two models may
// be saved to one path at once.
func (m *Model) Save(path string) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	dir, prefix, suffix := filepath.Dir(path), "."+filepath.Base(path)+".", ".tmp"
	if files, err := os.ReadDir(dir); err == nil {
		for _, file := range files {
			if strings.HasPrefix(file.Name(), prefix) && strings.HasSuffix(file.Name(), suffix) { // of a program that was killed while it saved
				os.Remove(filepath.Join(dir, file.Name()))
			}
		}
	}
	f, err := os.CreateTemp(dir, prefix+"*"+suffix)
	if err != nil {
		return fmt.Errorf("predictor: save model: %w", err)
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	if err := m.writeFile(f); err != nil {
		return fmt.Errorf("predictor: save model: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("predictor: save model: %w", err)
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("predictor: save model: %w", err)
	}
	return nil
}

// writeFile writes the model to f, makes it durable and closes it.
func (m *Model) writeFile(f *os.File) error {
	w := bufio.NewWriterSize(f, 1<<16)
	sum := crc32.New(castagnoli)
	err := m.write(io.MultiWriter(w, sum))
	if err == nil {
		_, err = w.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// write writes all of a model file but the checksum.
func (m *Model) write(w io.Writer) error {
	b := binary.AppendUvarint([]byte(magic), format)
	b = binary.AppendUvarint(b, FeatureSet)
	for _, c := range m.depths {
		m.mu.RLock()
		places := c.terms // only appended to: this part of it stays as it is
		b = binary.AppendUvarint(b, uint64(c.relevant))
		b = binary.AppendUvarint(b, uint64(c.other))
		m.mu.RUnlock()
		b = binary.AppendUvarint(b, uint64(len(places)))
		for chunk := range slices.Chunk(places, snapshotTerms) {
			m.mu.RLock()
			terms, relevant, other := c.learned(chunk)
			m.mu.RUnlock()
			for i, term := range terms {
				b = binary.AppendUvarint(b, uint64(len(term)))
				b = append(b, term...)
				b = binary.AppendUvarint(b, uint64(relevant[i]))
				b = binary.AppendUvarint(b, uint64(other[i]))
			}
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(m.worth.clone().append(b))
	return err
}

// clone returns a worth that has learned the same.
func (w *worth) clone() *worth {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return &worth{
		without: w.without, learned: w.learned, weights: w.weights, slopes: w.slopes, words: maps.Clone(w.words),
		all: w.all, hosts: w.hosts.clone(), shapes: w.shapes.clone(),
	}
}

// append appends the bytes of w, which nobody else uses.
func (w *worth) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(w.learned))
	for i := range w.weights {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(w.weights[i]))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(w.slopes[i]))
	}
	b = binary.AppendUvarint(b, uint64(len(w.words)))
	last := uint32(0)
	for _, i := range slices.Sorted(maps.Keys(w.words)) {
		b = binary.AppendUvarint(b, uint64(i-last))
		b, last = appendFloats(b, w.words[i].weight, w.words[i].slope), i
	}
	b = appendFloats(b, w.all.pages, w.all.worth)
	for _, r := range []rates{w.hosts, w.shapes} {
		maps.DeleteFunc(r.old, func(key uint64, _ rate) bool { _, young := r.young[key]; return young })
		b = binary.AppendUvarint(b, uint64(len(r.old)+len(r.young)))
		for _, generation := range []map[uint64]rate{r.old, r.young} {
			for _, key := range slices.Sorted(maps.Keys(generation)) {
				b = binary.BigEndian.AppendUint64(b, key)
				b = appendFloats(b, generation[key].pages, generation[key].worth)
			}
		}
	}
	return b
}

func appendFloats(b []byte, xs ...float32) []byte {
	for _, x := range xs {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// worth reads what append wrote into w, which has learned nothing.
func (d *decoder) worth(w *worth) {
	w.learned = d.count()
	for i := range w.weights {
		w.weights[i], w.slopes[i] = d.float64(), d.float64()
		d.failed = d.failed || w.slopes[i] < 0
	}
	clear(w.words)
	for i, used := 0, d.count(); used > 0 && !d.failed; used-- {
		step := d.count()
		i += step
		s := slot{d.float32(), d.float32()}
		if _, again := w.words[uint32(i)]; again || i >= weightSlots || s.slope < 0 {
			d.failed = true
			break
		}
		w.words[uint32(i)] = s
	}
	w.all = d.rate()
	for _, r := range []*rates{&w.hosts, &w.shapes} {
		for n := d.count(); n > 0 && !d.failed; n-- {
			key := d.fixed(8)
			r.put(key, d.rate())
		}
	}
}

func (d *decoder) rate() rate {
	r := rate{d.float32(), d.float32()}
	d.failed = d.failed || r.worth < 0 || r.pages < r.worth
	return r
}

// float32 and float64 read a finite number.
func (d *decoder) float32() float32 {
	x := math.Float32frombits(uint32(d.fixed(4)))
	d.finite(float64(x))
	return x
}

func (d *decoder) float64() float64 {
	x := math.Float64frombits(d.fixed(8))
	d.finite(x)
	return x
}

func (d *decoder) finite(x float64) { d.failed = d.failed || math.IsNaN(x) || math.IsInf(x, 0) }

// fixed reads a number of so many bytes.
func (d *decoder) fixed(size int) uint64 {
	if size > len(d.rest) {
		d.rest, d.failed = nil, true
		return 0
	}
	x := uint64(0)
	for _, c := range d.rest[:size] {
		x = x<<8 | uint64(c)
	}
	d.rest = d.rest[size:]
	return x
}

// Load reads a model that Save wrote. Options may differ from those it was
// trained with; a vocabulary that is larger than Options allow is cut down to
// the terms learned first.
func Load(path string, o Options) (*Model, error) {
	m, err := NewModel(o)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("predictor: load model: %w", err)
	}
	if err := m.read(data); err != nil {
		return nil, fmt.Errorf("predictor: load model %s: %w", path, err)
	}
	return m, nil
}

// read fills an empty model from the bytes of a model file.
func (m *Model) read(data []byte) error {
	if !bytes.HasPrefix(data, []byte(magic)) {
		if bytes.HasPrefix([]byte(magic), data) {
			return ErrDamaged
		}
		return ErrForeign
	}
	in := decoder{rest: data[len(magic):]}
	version := in.number()
	if version > format {
		return ErrNewerFormat
	}
	features := in.number()
	if in.failed || len(in.rest) < crc32.Size {
		return ErrDamaged
	}
	body := data[:len(data)-crc32.Size]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(data[len(body):]) {
		return ErrDamaged
	}
	if features != FeatureSet {
		return ErrFeatures
	}
	in.rest = in.rest[:len(in.rest)-crc32.Size]
	for _, c := range m.depths {
		c.relevant, c.other = in.count(), in.count()
		totals := [2]int{}
		for n := in.count(); n > 0 && !in.failed; n-- {
			term := in.text()
			relevant, other := in.count(), in.count()
			totals[0] += relevant
			totals[1] += other
			if in.failed || relevant+other == 0 || max(totals[0], totals[1]) > maxCount {
				return ErrDamaged
			}
			c.observe(term, relevant, other)
		}
	}
	if version >= 2 {
		in.worth(m.worth)
	}
	if in.failed || len(in.rest) > 0 {
		return ErrDamaged
	}
	return nil
}

// A decoder reads numbers and texts off the front of rest until one of them
// cannot be read; from then on it has failed and returns zeros.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.rest, d.failed = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// maxCount bounds what a file may count, also the terms of a class together:
// up to it, counts come back exactly from the frequencies of bayesian.
const maxCount = 1 << 34

func (d *decoder) count() int {
	v := d.number()
	if v > maxCount {
		d.rest, d.failed = nil, true
		return 0
	}
	return int(v)
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.rest, d.failed = nil, true
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}
