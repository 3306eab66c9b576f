package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gazehound/index/api"
)

// A questions is the log of what is looked for: JSON lines in a file, and older ones in another beside
// it. It is safe for concurrent use.
type questions struct {
	name string

	mu   sync.Mutex
	file *os.File
	size int64
}

// maxQuestions bounds each of the two files, in bytes.
const maxQuestions = 10 << 20

// olderQuestions returns the name of the file with older questions.
func olderQuestions(name string) string { return name + ".1" }

func openQuestions(name string) (*questions, error) {
	q := &questions{name: name}
	return q, q.open()
}

func (q *questions) open() error {
	file, err := os.OpenFile(q.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fail(badInput, "serve.questions: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	q.file, q.size = file, info.Size()
	return nil
}

// add appends a question; a full file becomes the older one.
func (q *questions) add(question api.Question) error {
	line, err := json.Marshal(question)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size >= maxQuestions {
		err := errors.Join(q.file.Close(), os.Rename(q.name, olderQuestions(q.name)))
		err = errors.Join(err, q.open())
		if err != nil {
			return err
		}
	}
	n, err := q.file.Write(append(line, '\n'))
	q.size += int64(n)
	return err
}

func (q *questions) close() error { return q.file.Close() }

// A vain is what was looked for in vain.
type vain struct {
	Type  string    `json:"type"` // "question"
	Words string    `json:"words"`
	Times int       `json:"times"`
	Last  time.Time `json:"last"`
}

// reportQuestions lists what was looked for in vain, most often first.
func (a *app) reportQuestions(dirs []string, o reportOptions) error {
	if len(dirs) > 0 || o.nodes || o.bridges || o.gates != "" {
		return fail(badUsage, "--questions is of the server of --data alone, without --nodes, --top-bridges, "+
			"--fail-under and further directories")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	name := cfg.Serve.Questions
	if name == "" {
		return fail(noData, "nobody writes down what is looked for. serve.questions names the file that "+
			"\"gazehound serve\" and \"run\" write")
	}
	all := map[string]*vain{}
	asked := 0
	for _, file := range []string{olderQuestions(name), name} {
		n, err := readQuestions(a.path(file), all)
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && file != name) {
			return fail(noData, "serve.questions: %w", err)
		}
		asked += n
	}
	var list []*vain
	for _, v := range all {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b *vain) int {
		return cmp.Or(b.Times-a.Times, b.Last.Compare(a.Last), strings.Compare(a.Words, b.Words))
	})
	a.say("%s, %s of different words in vain", several(asked, "question"), count(len(list)))
	for _, v := range list[:min(o.limit, len(list))] {
		err := a.tell(v, "%6d  %s  %s\n", v.Times, v.Last.Format(time.DateOnly), oneLine(v.Words))
		if err != nil {
			return err
		}
	}
	return nil
}

// readQuestions adds the questions of a file that were in vain to all, by their words in lower case. A
// line that was cut off is left out.
func readQuestions(name string, all map[string]*vain) (asked int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q api.Question
		if json.Unmarshal(lines.Bytes(), &q) != nil {
			continue
		}
		asked++
		words := strings.Join(strings.Fields(strings.ToLower(q.Words)), " ")
		if !q.InVain() || words == "" {
			continue
		}
		if all[words] == nil {
			all[words] = &vain{Type: "question", Words: words}
		}
		all[words].Times++
		all[words].Last = q.Time
	}
	return asked, lines.Err()
}
