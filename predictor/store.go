package predictor

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"

	"gazehound/internal/disk"
	"gazehound/internal/recent"
)

// Errors of Load, wrapped with the file's name. A missing file is
// fs.ErrNotExist.
var (
	ErrForeign     = errors.New("not a predictor model")
	ErrNewerFormat = errors.New("written by a newer gazehound: update the program")
	ErrOlderFormat = errors.New("written by an older gazehound: gazehound upgrade trains it again")
	ErrFeatures    = errors.New("trained on other link features: gazehound upgrade trains it again")
	ErrDamaged     = errors.New("damaged or cut off: restore a copy, or train it again with gazehound retrain")
)

// A model file is a line with the magic word, the format and the feature set, a modelFile in gob, and
// the CRC-32C of all before it, 4 bytes, big-endian.
const (
	magic  = "gazehound predictor"
	format = 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A modelFile is what a model has learned.
type modelFile struct {
	Depths          []depthFile
	Links           int // whose value was learned
	Weights, Slopes [inputs]float64
	Terms           depthFile // of the classifier of values
	All             rate
	Hosts, Shapes   []rateFile // the least recently used first
}

// A depthFile is the classifier of a depth.
type depthFile struct {
	LinksRelevant, LinksOther int
	Terms                     []string  // in the order of learning
	Relevant, Other           []float64 // links with the term
}

type rateFile struct {
	Key  uint64 // hash of a host or shape
	Rate rate
}

// Save writes the model to path: to a new file beside it, which takes its name
// when it is safely on disk, so that a crash leaves either the old model or the
// new one. No two models may be saved to one path at once.
func (m *Model) Save(path string) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	data, err := m.encode()
	if err == nil {
		err = disk.ReplaceBytes(path, 0o644, data)
	}
	if err != nil {
		return fmt.Errorf("predictor: save model: %w", err)
	}
	return nil
}

// encode returns the bytes of a model file.
func (m *Model) encode() ([]byte, error) {
	var f modelFile
	m.mu.RLock()
	for _, c := range m.depths {
		f.Depths = append(f.Depths, c.file())
	}
	m.mu.RUnlock()
	w := m.value.without(func(string) bool { return false })
	f.Links, f.Weights, f.Slopes, f.All, f.Terms = w.learned, w.weights, w.slopes, w.all, w.terms.file()
	f.Hosts, f.Shapes = w.hosts.file(), w.shapes.file()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d %d\n", magic, format, FeatureSet)
	err := gob.NewEncoder(&b).Encode(f)
	return binary.BigEndian.AppendUint32(b.Bytes(), crc32.Checksum(b.Bytes(), castagnoli)), err
}

func (c *classifier) file() depthFile {
	relevant, other := c.counts(c.terms)
	return depthFile{c.relevant, c.other, c.terms, relevant, other}
}

func (r *rates) file() (list []rateFile) {
	for key, x := range recent.Sorted(&r.Map) {
		list = append(list, rateFile{key, x})
	}
	return list
}

func (r *rates) restore(list []rateFile) {
	for _, x := range list {
		r.Put(x.Key, x.Rate)
	}
}

// without returns a copy of w without some terms.
func (w *valueModel) without(gone func(term string) bool) *valueModel {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return &valueModel{
		parts: w.parts, learned: w.learned, weights: w.weights, slopes: w.slopes, terms: w.terms.without(gone),
		all: w.all, hosts: rates{w.hosts.Clone()}, shapes: rates{w.shapes.Clone()},
	}
}

// Load reads a model that Save wrote. Options may differ from those it was
// trained with; a vocabulary that is larger than Options allow is cut down to
// the terms learned first.
func Load(path string, o Options) (*Model, error) {
	m := NewModel(o)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("predictor: load model: %w", err)
	}
	err = m.read(data)
	if err != nil {
		return nil, fmt.Errorf("predictor: load model %s: %w", path, err)
	}
	return m, nil
}

// read fills an empty model from the bytes of a model file.
func (m *Model) read(data []byte) error {
	if start := data[:min(len(data), len(magic))]; !strings.HasPrefix(magic, string(start)) {
		return ErrForeign
	}
	head, rest, whole := bytes.Cut(data, []byte("\n"))
	version, features := 0, 0 // formats before 4 have no numbers here
	fmt.Sscanf(string(head[min(len(head), len(magic)):]), "%d %d", &version, &features)
	switch {
	case !whole:
		return ErrDamaged
	case version > format:
		return ErrNewerFormat
	case version < format:
		return ErrOlderFormat
	}
	end := len(data) - crc32.Size
	if len(rest) < crc32.Size || crc32.Checksum(data[:end], castagnoli) != binary.BigEndian.Uint32(data[end:]) {
		return ErrDamaged
	}
	if features != FeatureSet {
		return ErrFeatures
	}
	var f modelFile
	body := bytes.NewReader(rest[:len(rest)-crc32.Size])
	if gob.NewDecoder(body).Decode(&f) != nil || body.Len() > 0 {
		return ErrDamaged
	}
	for d, from := range f.Depths[:min(len(f.Depths), len(m.depths))] {
		err := m.depths[d].restore(from)
		if err != nil {
			return err
		}
	}
	w := m.value
	w.learned, w.weights, w.slopes, w.all = f.Links, f.Weights, f.Slopes, f.All
	w.terms = newClassifier(m.options)
	err := w.terms.restore(f.Terms)
	if err != nil {
		return err
	}
	w.hosts.restore(f.Hosts)
	w.shapes.restore(f.Shapes)
	return nil
}

// maxCount is the largest count of a class that comes back exactly from the frequencies of bayesian.
const maxCount = 1 << 34

// restore fills an empty classifier.
func (c *classifier) restore(f depthFile) error {
	if n := len(f.Terms); len(f.Relevant) != n || len(f.Other) != n || min(f.LinksRelevant, f.LinksOther) < 0 {
		return ErrDamaged
	}
	c.relevant, c.other = f.LinksRelevant, f.LinksOther
	relevant, other := 0.0, 0.0
	for i, term := range f.Terms {
		relevant, other = relevant+f.Relevant[i], other+f.Other[i]
		if !(min(f.Relevant[i], f.Other[i]) >= 0 && f.Relevant[i]+f.Other[i] >= 1 && max(relevant, other) <= maxCount) {
			return ErrDamaged
		}
		c.observe(term, int(f.Relevant[i]), int(f.Other[i]))
	}
	return nil
}
