package main

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/index/api"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// What readers look for is counted and, where the operator wants it, written down without who they
// are; the report lists what was not found.
func TestQuestions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "questions.ndjson")
	t.Setenv("GAZEHOUND_SERVE__QUESTIONS", file)
	data := shopIndex(t)
	site, _, _ := runServe(t, data)
	for _, words := range []string{"tischlerei", "Quastenflosser", "quastenflosser ", "tischlerei", "x\ny <b>"} {
		if status, body := fetchText(t, site+"v1/search?q="+url.QueryEscape(words)); status != http.StatusOK {
			t.Fatalf("%q: %d %s", words, status, body)
		}
	}
	status, text := fetchText(t, site+"metrics")
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if status != http.StatusOK || err != nil || len(problems) > 0 {
		t.Errorf("metrics: %d, %v, %v", status, err, problems)
	}
	for _, want := range []string{`gazehound_server_requests_total{class="2xx",endpoint="/v1/search"} 5`,
		`gazehound_server_questions_total{found="all_words"} 2`, `gazehound_server_questions_total{found="none"} 3`} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s:\n%s", want, text)
		}
	}
	if log, err := os.ReadFile(file); err != nil || bytes.Count(log, []byte("\n")) != 5 || bytes.Contains(log, []byte("127.0.0.1")) {
		t.Errorf("the log: %v\n%s", err, log)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"report", "--questions", "--data", data, "--limit", "1"}, nil, &out, &errs)
	if code != exitOK || !strings.Contains(out.String(), "     2  ") || !strings.HasSuffix(out.String(), "  quastenflosser\n") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("report: exit %d\n%s%s", code, out.String(), errs.String())
	}
}

// The log of questions never grows beyond its two files, and a line that was cut off does no harm.
func TestQuestionsBounded(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "questions")
	q, err := openQuestions(name)
	if err != nil {
		t.Fatal(err)
	}
	line := api.Question{Time: time.Now(), Words: strings.Repeat("wort ", 40)}
	for range 3 {
		q.size = maxQuestions
		if err := q.add(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if err := os.WriteFile(name, []byte(`{"words":"a"}`+"\n"+`{"wor`), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]*vain{}
	if n, err := readQuestions(name, all); n != 1 || err != nil || all["a"] == nil {
		t.Errorf("%d questions, %v, %v", n, err, all)
	}
}
