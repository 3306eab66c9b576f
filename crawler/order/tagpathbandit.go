package order

import (
	"hash/fnv"
	"math"
	"strings"
	"sync"

	"gazehound/crawler/frontier"
	"gazehound/internal/recent"
)

// TagPathSettings are the options of tag-path-bandit.
type TagPathSettings struct {
	Exploration    float64 `range:"0..100"`                     // α: how much rarely tried groups are preferred
	PathSimilarity float64 `key:"path_similarity" range:"0..1"` // θ: cosine from which a tag path joins a group
}

var tagPathBandit = Kind{
	Name: "tag-path-bandit",
	Help: "a bandit over groups of links with similar tag paths (Gauquier et al.)",
	Keys: []string{"exploration", "path_similarity"},
	New:  func(o Options) (Strategy, error) { return NewTagPathBandit(o.TagPathSettings), nil },
}

// TagPathBandit is the sleeping bandit of Gauquier, Manolescu & Senellart, "Efficient Crawling for
// Scalable Web Data Acquisition" (arXiv 2602.11874), with the constants of their published program.
// Links whose tag paths are alike are one action; of the actions that have queued links it takes
// the one with the highest
//
//	mean reward + α · √(ln t / n)
//
// (AUER), n of t visits being its own, and there any link. A tag path is the vector of its bigrams of
// elements; it joins the group with the nearest mean if their cosine is at least θ, else it founds one.
//
// What differs:
//   - Their targets are files that a page links to, recognised by a classifier of URLs and fetched
//     at once; the reward of a page is how many there are. Our targets are pages that have to be
//     fetched to be recognised: one is a reward for the group of its own link, and for the group of
//     the link to the page that links to it.
//   - Their crawler stays on one site, ours does not.
//   - Bigrams are hashed to 2¹² numbers as there, but by FNV and not by the order in which they were
//     seen. The nearest mean is searched exactly, theirs by HNSW. A tag path moves the mean of its
//     group once, theirs with every link. Page.Link bounds tag paths and writes numbers as 0.
//   - Priorities that the queue keeps are renewed when they reach its front: a group whose score rises
//     meanwhile may be served late.
type TagPathBandit struct {
	TagPathSettings

	mu     sync.Mutex
	visits int // t
	groups []*pathGroup
	known  recent.Map[string, int] // tag path → number of its group
}

// A pathGroup is an action.
type pathGroup struct {
	example string             // its first tag path
	sum     map[uint16]float64 // of the vectors of its tag paths
	norm    float64            // of sum
	visits  int                // n
	reward  float64            // of all visits
}

// Bounds of a bandit.
const (
	maxPathGroups = 1000    // a tag path beyond joins the nearest group
	maxKnownPaths = 100_000 // whose group is remembered
)

// NewTagPathBandit returns a bandit that has learned nothing.
func NewTagPathBandit(s TagPathSettings) *TagPathBandit {
	return &TagPathBandit{TagPathSettings: s, known: recent.Map[string, int]{Most: maxKnownPaths}}
}

// Groups returns how many groups of links there are.
func (b *TagPathBandit) Groups() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.groups)
}

// Score returns x/(1 + x) of the score x of the group of e; 1 for a seed.
func (b *TagPathBandit) Score(e *frontier.Entry) (float64, bool) {
	if e.Depth == 0 {
		return 1, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.score(b.group(e))
	return x / (1 + x), true
}

// score is the upper confidence bound of a group.
func (b *TagPathBandit) score(g *pathGroup) float64 {
	const few = 1e-6 // the group that was never tried comes first
	return g.mean() + b.Exploration*math.Sqrt(math.Log(float64(max(b.visits, 2)))/(float64(g.visits)+few))
}

func (g *pathGroup) mean() float64 { return g.reward / float64(max(g.visits, 1)) }

// group returns the group of the link to e, which it may found. b.mu is held.
func (b *TagPathBandit) group(e *frontier.Entry) *pathGroup {
	_, path, _ := strings.Cut(e.Place, " ")
	if i, ok := b.known.Get(path); ok {
		return b.groups[i]
	}
	v := bigrams(path)
	nearest, similarity := -1, -1.0
	for i, g := range b.groups {
		if s := g.cosine(v); s > similarity {
			nearest, similarity = i, s
		}
	}
	if nearest < 0 || similarity < b.PathSimilarity && len(b.groups) < maxPathGroups {
		nearest = len(b.groups)
		b.groups = append(b.groups, &pathGroup{example: path, sum: map[uint16]float64{}})
	}
	b.groups[nearest].add(v)
	b.known.Put(strings.Clone(path), nearest)
	return b.groups[nearest]
}

// bigrams returns the vector of a tag path: the share of each pair of elements that follow one
// another, beginning and end among them, by the hash of the pair.
func bigrams(path string) map[uint16]float64 {
	elements := append(strings.Fields(path), "")
	v := make(map[uint16]float64, len(elements))
	before := ""
	for _, element := range elements {
		h := fnv.New32a()
		h.Write([]byte(before + " " + element))
		v[uint16(h.Sum32()>>20)] += 1 / float64(len(elements)) // the upper 12 bits
		before = element
	}
	return v
}

func (g *pathGroup) add(v map[uint16]float64) {
	for k, x := range v {
		g.sum[k] += x
	}
	square := 0.0
	for _, x := range g.sum {
		square += x * x
	}
	g.norm = math.Sqrt(square)
}

// cosine returns the cosine of v and the mean of g.
func (g *pathGroup) cosine(v map[uint16]float64) float64 {
	dot, square := 0.0, 0.0
	for k, x := range v {
		dot += x * g.sum[k]
		square += x * x
	}
	return dot / (g.norm * math.Sqrt(square))
}

// Learn counts the visit of trail[0], and its reward if it is relevant.
func (b *TagPathBandit) Learn(trail []frontier.Node, relevant bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trail[0].Depth > 0 {
		b.visits++
		b.group(&trail[0].Entry).visits++
	}
	if relevant {
		b.pay(trail, 1)
	}
}

// Retract corrects the reward of trail[0].
func (b *TagPathBandit) Retract(trail []frontier.Node, relevant bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if relevant {
		b.pay(trail, 1)
	} else {
		b.pay(trail, -1)
	}
}

// pay adds a reward to the groups of the link to trail[0] and of the link to the page that links to
// it. b.mu is held.
func (b *TagPathBandit) pay(trail []frontier.Node, reward float64) {
	for i := range trail[:min(len(trail), 2)] {
		if trail[i].Depth > 0 {
			g := b.group(&trail[i].Entry)
			g.reward = max(0, g.reward+reward)
		}
	}
}

// Rescores is true: every visit changes the score of its group.
func (*TagPathBandit) Rescores() bool { return true }

// LearnsTree is true: the groups are not saved.
func (*TagPathBandit) LearnsTree() bool { return true }

// Explain returns the score of the group of e.
func (b *TagPathBandit) Explain(e *frontier.Entry) Explanation {
	priority, _ := b.Score(e)
	if e.Depth == 0 {
		return whole(priority, "a seed")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.group(e)
	return whole(priority, "x/(1+x), x = %.3f of its group of links: mean reward %.3f over %d of %d visits; tag paths like %q",
		b.score(g), g.mean(), g.visits, b.visits, g.example)
}
