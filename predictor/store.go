package predictor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"slices"

	"gazehound/internal/disk"
	"gazehound/internal/recent"
)

// Errors of Load, wrapped with the file's name. A missing file is
// fs.ErrNotExist.
var (
	ErrForeign     = errors.New("not a predictor model")
	ErrNewerFormat = errors.New("written by a newer gazehound: update the program")
	ErrOlderFormat = errors.New("written by an older gazehound: make it again with gazehound retrain")
	ErrFeatures    = errors.New("trained on other link features: train it again with gazehound retrain")
	ErrDamaged     = errors.New("damaged or cut off: restore a copy, or train it again with gazehound retrain")
)

// A model file is the magic line, then unsigned varints: format, feature set, the number of depths,
// and for each depth the links learned (relevant, other) and the number of terms; then each term as
// length, bytes, count on relevant links and count on others, in the order of learning. The values
// of links follow: links learned, then weight and slope of each input (float64), the number of term
// slots in use and each as its distance from the one before, weight and slope (float32); then pages
// and value (float32) of all pages, and for hosts and for shapes their number and each as hash (8
// bytes), pages and value, the least recently used first. The last four bytes are the CRC-32C of
// all before them; that and all numbers of fixed size are big-endian.
const (
	magic  = "gazehound predictor\n"
	format = 3
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the model to path: to a new file beside it, which takes its name
// when it is safely on disk, so that a crash leaves either the old model or the
// new one. No two models may be saved to one path at once.
func (m *Model) Save(path string) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	b := m.append([]byte(magic))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if err := disk.ReplaceBytes(path, 0o644, b); err != nil {
		return fmt.Errorf("predictor: save model: %w", err)
	}
	return nil
}

// append appends all of a model file but the magic line and the checksum.
func (m *Model) append(b []byte) []byte {
	b = binary.AppendUvarint(b, format)
	b = binary.AppendUvarint(b, FeatureSet)
	m.mu.RLock()
	b = binary.AppendUvarint(b, uint64(len(m.depths)))
	for _, c := range m.depths {
		b = binary.AppendUvarint(b, uint64(c.relevant))
		b = binary.AppendUvarint(b, uint64(c.other))
		b = binary.AppendUvarint(b, uint64(len(c.terms)))
		relevant, other := c.counts(c.terms)
		for i, term := range c.terms {
			b = disk.AppendString(b, term)
			b = binary.AppendUvarint(b, uint64(relevant[i]))
			b = binary.AppendUvarint(b, uint64(other[i]))
		}
	}
	m.mu.RUnlock()
	return m.value.clone().append(b, inputBayes+len(m.depths))
}

// clone returns a model that has learned the same.
func (w *valueModel) clone() *valueModel {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return &valueModel{
		learned: w.learned, weights: w.weights, slopes: w.slopes, words: maps.Clone(w.words),
		all: w.all, hosts: rates{w.hosts.Clone()}, shapes: rates{w.shapes.Clone()},
	}
}

// append appends the bytes of w with so many inputs. The caller alone uses w.
func (w *valueModel) append(b []byte, inputs int) []byte {
	b = binary.AppendUvarint(b, uint64(w.learned))
	for i := range inputs {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(w.weights[i]))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(w.slopes[i]))
	}
	b = binary.AppendUvarint(b, uint64(len(w.words)))
	last := uint32(0)
	for _, i := range slices.Sorted(maps.Keys(w.words)) {
		b = binary.AppendUvarint(b, uint64(i-last))
		b, last = appendFloats(b, w.words[i].weight, w.words[i].slope), i
	}
	b = appendFloats(b, w.all.pages, w.all.value)
	for _, r := range []*rates{&w.hosts, &w.shapes} {
		b = binary.AppendUvarint(b, uint64(r.Len()))
		for key, x := range recent.Sorted(&r.Map) {
			b = binary.BigEndian.AppendUint64(b, key)
			b = appendFloats(b, x.pages, x.value)
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

// value reads what append wrote into the untrained w.
func (d *decoder) value(w *valueModel, inputs int) {
	w.learned = d.count()
	for i := range inputs {
		w.weights[i], w.slopes[i] = d.Float64(), d.Float64()
		d.failIf(w.slopes[i] < 0)
	}
	clear(w.words)
	for i, used := 0, d.count(); used > 0 && !d.Failed(); used-- {
		step := d.count()
		i += step
		s := slot{d.Float32(), d.Float32()}
		if _, again := w.words[uint32(i)]; again || i >= weightSlots || s.slope < 0 {
			d.Fail()
			break
		}
		w.words[uint32(i)] = s
	}
	w.all = d.rate()
	for _, r := range []*rates{&w.hosts, &w.shapes} {
		for n := d.count(); n > 0 && !d.Failed(); n-- {
			key := d.Uint64()
			r.Put(key, d.rate())
		}
	}
}

func (d *decoder) rate() rate {
	r := rate{d.Float32(), d.Float32()}
	d.failIf(r.value < 0 || r.pages < r.value)
	return r
}

func (d *decoder) failIf(impossible bool) {
	if impossible {
		d.Fail()
	}
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
	in := decoder{disk.Decode(data[len(magic):])}
	version := in.Uvarint()
	switch {
	case version > format:
		return ErrNewerFormat
	case version < format && !in.Failed():
		return ErrOlderFormat
	}
	features := in.Uvarint()
	if in.Failed() || in.Len() < crc32.Size {
		return ErrDamaged
	}
	body := data[:len(data)-crc32.Size]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(data[len(body):]) {
		return ErrDamaged
	}
	if features != FeatureSet {
		return ErrFeatures
	}
	in = decoder{disk.Decode(in.Next(in.Len() - crc32.Size))}
	depths := in.Int(MaxDepth)
	for d := range depths {
		c := newClassifier(m.options) // of a depth that Options leave out
		if d < len(m.depths) {
			c = m.depths[d]
		}
		c.relevant, c.other = in.count(), in.count()
		totals := [2]int{}
		for n := in.count(); n > 0 && !in.Failed(); n-- {
			term := in.String()
			relevant, other := in.count(), in.count()
			totals[0] += relevant
			totals[1] += other
			if in.Failed() || relevant+other == 0 || max(totals[0], totals[1]) > maxCount {
				return ErrDamaged
			}
			c.observe(term, relevant, other)
		}
	}
	in.value(m.value, inputBayes+depths)
	if in.Err() != nil {
		return ErrDamaged
	}
	return nil
}

// A decoder reads what write wrote.
type decoder struct{ disk.Decoder }

// maxCount bounds what a file may count, also the terms of a class together:
// up to it, counts come back exactly from the frequencies of bayesian.
const maxCount = 1 << 34

func (d *decoder) count() int { return d.Int(maxCount) }
