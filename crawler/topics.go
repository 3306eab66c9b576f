package crawler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
	"gazehound/internal/textutil"
	"gazehound/predictor/topic"
)

// ReadTopics reads the file of a tree of topics.
func ReadTopics(name string) (*topic.Tree, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("topics: %w", err)
	}
	defer f.Close()
	tree, err := topic.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, textutil.OneLine(err.Error()))
	}
	return tree, nil
}

// OpenTopic returns a topic of the tree in file by its name; without a name, the one in the first
// line of the file noted. The words of that file's second line are added to the topic.
func OpenTopic(file, name, noted string, o topic.Options) (*topic.Chosen, error) {
	tree, err := ReadTopics(file)
	if err != nil {
		return nil, err
	}
	from := "crawl.topic"
	text, err := os.ReadFile(noted)
	if name == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no topic of %s is chosen: --topic NAME, or --examples with pages about it", file)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	path, added, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if name == "" {
		name, from = strings.TrimSpace(path), noted
	}
	if n, ok := tree.Find(name); ok && tree.Topics[n].Path == strings.TrimSpace(path) {
		tree.Describe(n, added)
	} else {
		added = ""
	}
	c, ok, err := tree.Choose(name, o)
	if !ok {
		return nil, fmt.Errorf("%s: %s holds no topic %q.%s", from, file, name, textutil.DidYouMean(name, tree.Names()))
	}
	c.Added = strings.Fields(added)
	return c, err
}

// TopicSink adds the pages of a crawl to the collection of Okapi: its N, df and mean length.
type TopicSink struct{ Okapi *topic.Okapi }

// Visit observes a page at its first visit.
func (s TopicSink) Visit(_ context.Context, v *Visit) error {
	if v.Before == nil {
		collect(s.Okapi, &v.Outcome)
	}
	return nil
}

// collect adds a page whose words are in its outcome to the collection of t.
func collect(t *topic.Okapi, o *frontier.Outcome) {
	if o.TextBytes > 0 {
		t.Observe(topic.Text{Bytes: o.TextBytes, Counts: o.TopicWords})
	}
}

// maxNameWords is how many words of a topic are in the name of its crawl.
const maxNameWords = 20

// NewTopic returns a judge for the topic that text describes, and a name for it.
func NewTopic(text string, share float64, o topic.Options) (t Topic, name string, err error) {
	words := topic.Words(text)
	if len(words) == 0 {
		return t, "", errors.New("judge topic needs words that describe the topic: crawl.topic or --topic \"bicycle " +
			"repair\", or a tree of topics: --topics FILE")
	}
	okapi, err := topic.NewOkapi(words, o)
	return Topic{Topic: okapi, Share: share}, strings.Join(words[:min(len(words), maxNameWords)], " "), err
}

// VisitOnly visits pages by a crawl that follows no links and keeps nothing. c has neither frontier
// nor strategy.
func (c *Crawler) VisitOnly(ctx context.Context, urls []weburl.URL) (err error) {
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	c.Frontier, c.Strategy = f, SeedsOnly{}
	_, err = c.Seed(ctx, urls)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// ExampleURL returns the URL of an example that is a URL and no file.
func ExampleURL(example string) (weburl.URL, bool) {
	if !strings.Contains(example, "://") {
		return weburl.URL{}, false
	}
	u, err := weburl.Parse(example)
	return u, err == nil
}

// ReadExamples returns the texts of the examples that are files, at most that many bytes each, and
// the URLs of the others.
func ReadExamples(examples []string, most int64) (texts []string, urls []weburl.URL, err error) {
	for _, example := range examples {
		if u, ok := ExampleURL(example); ok {
			urls = append(urls, u)
			continue
		}
		text, err := ReadExample(example, most)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, text)
	}
	return texts, urls, nil
}

// NoteTopic stores the path of a crawl's topic in a file for OpenTopic, and below it the words that
// were added to the topic. It makes the folder.
func NoteTopic(file, path string, added []string) error {
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err != nil {
		return err
	}
	note := path + "\n"
	if len(added) > 0 {
		note += strings.Join(added, " ") + "\n"
	}
	return disk.ReplaceBytes(file, 0o644, []byte(note))
}

// PlaceExamples splits examples into directories, which hold example pages of each place, and files and
// URLs, which choose a topic.
func PlaceExamples(examples []string) (dirs, others []string) {
	for _, e := range examples {
		if info, err := os.Stat(e); err == nil && info.IsDir() {
			dirs = append(dirs, e)
		} else {
			others = append(others, e)
		}
	}
	return dirs, others
}
