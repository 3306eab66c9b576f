package monitor

import (
	"bytes"
	"encoding/binary"
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
	_         float32 // points that older versions stored have a value here
}

// A Span names one of the three series.
type Span struct {
	Name  string        // as requests name it
	Every time.Duration // between two points
	Size  int           // points
}

// spans are the series that are kept, the finest first: ten minutes by the second, six hours by ten
// seconds, ninety days by five minutes.
var spans = [...]Span{
	{"10m", time.Second, 600},
	{"6h", 10 * time.Second, 2_160},
	{"90d", 5 * time.Minute, 25_920},
}

// A series keeps the last points of a span, each in the slot that its time
// gives it, so that a restart and a clock that was set do no harm.
type series struct {
	Span
	points []Point
}

func newSeries(s Span) *series { return &series{s, make([]Point, s.Size)} }

// number counts the spans of time since 1970; the slot of one is the rest by Size.
func (s *series) number(at int64) int64 { return at / int64(s.Every/time.Second) }

// add puts p in its slot; later points of one span replace earlier ones.
func (s *series) add(p Point) {
	if p.At <= 0 {
		return
	}
	s.points[s.number(p.At)%int64(s.Size)] = p
}

// last returns the points of the span that ends at now, the oldest first.
func (s *series) last(now int64) []Point {
	var points []Point
	end := s.number(now)
	for n := max(end-int64(s.Size)+1, 0); n <= end; n++ {
		if p := s.points[n%int64(s.Size)]; p.At > 0 && s.number(p.At) == n {
			points = append(points, p)
		}
	}
	return points
}

// name is where the points are kept in the meta data of the frontier.
func (s *series) name() string { return "series " + s.Name }

// encode returns the points of the span that ends at now.
func (s *series) encode(now int64) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.BigEndian, s.last(now)) // a buffer takes everything
	return b.Bytes()
}

// decode restores stored points. Those of another format are dropped: curves must not prevent a
// start.
func (s *series) decode(data []byte) {
	points := make([]Point, len(data)/binary.Size(Point{}))
	if binary.Size(points) != len(data) || binary.Read(bytes.NewReader(data), binary.BigEndian, points) != nil {
		return
	}
	for _, p := range points {
		s.add(p)
	}
}

// perMinute returns the new addresses per minute, over the last minute; nil during the first
// seconds.
func (s *series) perMinute() *float64 {
	points := s.last(time.Now().Unix())
	for len(points) > 0 && points[len(points)-1].At-points[0].At > 60 {
		points = points[1:]
	}
	if len(points) == 0 || points[len(points)-1].At-points[0].At < 5 {
		return nil
	}
	first, last := points[0], points[len(points)-1]
	rate := float64(last.Addresses-first.Addresses) * 60 / float64(last.At-first.At)
	return &rate
}

// A store keeps values by name, as the frontier does for what belongs to the
// crawl as a whole.
type store interface {
	Meta(name string) ([]byte, error)
	PutMeta(name string, value []byte) error
}

// Load restores the curves of earlier runs. Those of another format are dropped.
func (b *Board) Load(from store) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.history {
		data, err := from.Meta(s.name())
		if err != nil {
			return err
		}
		s.decode(data)
	}
	return nil
}

// Save keeps the curves; those of the last minutes only with all.
func (b *Board) Save(to store, all bool) error {
	b.mu.Lock()
	values := map[string][]byte{}
	for i, s := range b.history {
		if i > 0 || all {
			values[s.name()] = s.encode(time.Now().Unix())
		}
	}
	b.mu.Unlock()
	for name, value := range values {
		err := to.PutMeta(name, value)
		if err != nil {
			return err
		}
	}
	return nil
}
