package monitor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// A Point is the state of a crawl at the end of a span of time.
type Point struct {
	At        int64 // Unix time in seconds; 0: there is no point
	Pages     int64
	Relevant  int64
	Queued    int64
	Addresses int64
	Errors    int64
	Harvest   float32 // share of relevant ones among the last 1,000 pages
	Breadth   float32 // what breadth-first would have brought there, estimated; < 0: not known
}

// A Span names one of the three series.
type Span struct {
	Name  string        // as requests name it
	Every time.Duration // between two points
	Size  int           // points
	chunk int           // points that are stored together; Size is a multiple of it
}

// Spans are the series that are kept, the finest first.
var spans = [...]Span{
	{"10m", time.Second, 600, 600},
	{"6h", 10 * time.Second, 2_160, 360},
	{"90d", 5 * time.Minute, 25_920, 288},
}

// Spans returns the series that are kept, the finest first: ten minutes by the
// second, six hours by ten seconds, ninety days by five minutes.
func Spans() []Span { return spans[:] }

// A series keeps the last points of a span, each at the place that its time
// gives it, so that a restart and a clock that was set do no harm.
type series struct {
	Span
	chunks [][]Point    // nil: there is no point in it
	dirty  map[int]bool // chunks that are to be stored
}

func newSeries(s Span) *series {
	return &series{s, make([][]Point, s.Size/s.chunk), map[int]bool{}}
}

func (s *series) slot(at int64) (slot int, number int64) {
	number = at / int64(s.Every/time.Second)
	return int(number % int64(s.Size)), number
}

// add puts p in its place; later points of one span replace earlier ones.
func (s *series) add(p Point) {
	if p.At <= 0 {
		return
	}
	i, _ := s.slot(p.At)
	s.put(i, p)
	s.dirty[i/s.chunk] = true
}

func (s *series) put(slot int, p Point) {
	chunk := &s.chunks[slot/s.chunk]
	if *chunk == nil {
		*chunk = make([]Point, s.chunk)
	}
	(*chunk)[slot%s.chunk] = p
}

// at returns the point of a slot.
func (s *series) at(slot int) Point {
	if chunk := s.chunks[slot/s.chunk]; chunk != nil {
		return chunk[slot%s.chunk]
	}
	return Point{}
}

// last returns the points of the span that ends at now, the oldest first.
func (s *series) last(now int64) []Point {
	var points []Point
	_, end := s.slot(now)
	for n := max(end-int64(s.Size)+1, 0); n <= end; n++ {
		p := s.at(int(n % int64(s.Size)))
		if _, number := s.slot(p.At); p.At > 0 && number == n {
			points = append(points, p)
		}
	}
	return points
}

// name is where a chunk is kept in the meta data of the frontier.
func (s *series) name(chunk int) string { return fmt.Sprintf("series %s %d", s.Name, chunk) }

// encode returns the points of a chunk.
func (s *series) encode(chunk int) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.BigEndian, s.chunks[chunk]) // cannot fail
	return b.Bytes()
}

// decode puts the points of a stored chunk back. What is of another form is
// left out: curves are worth less than a start.
func (s *series) decode(data []byte) {
	one := binary.Size(Point{})
	points := make([]Point, min(len(data)/one, s.chunk))
	if len(data)%one != 0 || binary.Read(bytes.NewReader(data), binary.BigEndian, points) != nil {
		return
	}
	for _, p := range points {
		if p.At > 0 {
			i, _ := s.slot(p.At)
			s.put(i, p)
		}
	}
}

// A history is the three series of a crawl.
type history [len(spans)]*series

func newHistory() history {
	var h history
	for i, s := range spans {
		h[i] = newSeries(s)
	}
	return h
}

// add puts p into all series.
func (h *history) add(p Point) {
	for _, s := range h {
		s.add(p)
	}
}

// perMinute returns how many addresses the last minute has brought, in
// addresses a minute; nil before there are some seconds to tell it from.
func (h *history) perMinute() *float64 {
	points := h[0].last(time.Now().Unix())
	if len(points) == 0 {
		return nil
	}
	last := points[len(points)-1]
	first := last
	for i := len(points) - 1; i >= 0 && last.At-points[i].At <= 60; i-- {
		first = points[i]
	}
	if last.At-first.At < 5 {
		return nil
	}
	rate := float64(last.Addresses-first.Addresses) * 60 / float64(last.At-first.At)
	return &rate
}

// A store keeps values by name, as the frontier does for what belongs to the
// crawl as a whole.
type store interface {
	Meta(name string) ([]byte, error)
	PutMeta(name string, value []byte) error
}

// load takes over what was kept.
func (h *history) load(from store) error {
	for _, s := range h {
		for chunk := range s.chunks {
			data, err := from.Meta(s.name(chunk))
			if err != nil {
				return err
			}
			s.decode(data)
		}
	}
	return nil
}

// A piece is a value that is to be stored.
type piece struct {
	name  string
	value []byte
}

// changed returns what has changed since the last call; the finest series only
// with all.
func (h *history) changed(all bool) []piece {
	var pieces []piece
	for i, s := range h {
		if i == 0 && !all {
			continue
		}
		for chunk := range s.dirty {
			pieces = append(pieces, piece{s.name(chunk), s.encode(chunk)})
		}
		clear(s.dirty)
	}
	return pieces
}
