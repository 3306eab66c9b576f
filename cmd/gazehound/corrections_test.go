package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/index"
	"gazehound/internal/corrections"
)

const correctorsToken = "0123456789abcdef-corrector"

// correctorsConfig returns a configuration with a token for the operator, and more.
func correctorsConfig(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	token, config := filepath.Join(dir, "token"), filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(token, []byte(correctorsToken), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("admin: {token_file: "+token+"}\n"+more), 0o644); err != nil {
		t.Fatal(err)
	}
	return config
}

// correctors starts "gazehound serve" as a process and returns the URL of its page.
func correctors(t *testing.T, data, config string) (p *process, base string) {
	t.Helper()
	p = startProgram(t, "serve", "--data", data, "--config", config, "--listen", "127.0.0.1:0")
	for line := range p.stderr {
		if _, url, ok := strings.Cut(line, "search page  "); ok {
			return p, strings.TrimSuffix(url, "/")
		}
	}
	t.Fatalf("the server ended: exit %d", p.end(t))
	panic("")
}

// askOperator sends a request of the operator; status 0: there is no answer.
func askOperator(token, method, url string, body any) (status int, answer map[string]any) {
	text, _ := json.Marshal(body)
	r, err := http.NewRequest(method, url, bytes.NewReader(text))
	if err != nil {
		return 0, nil
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("X-Gazehound-Control", "1")
	r.Header.Set("If-Match", "*")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(data, &answer) != nil {
		return 0, nil
	}
	return response.StatusCode, answer
}

// idsOf returns the addresses in the index of a data directory.
func idsOf(t *testing.T, data string) (ids []string) {
	t.Helper()
	x, err := index.OpenReadOnly(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
		if h.Name != "" && h.HouseNumber != "" && h.Status == "" {
			ids = append(ids, h.ID)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// A server that is killed while people correct loses no correction that it acknowledged, and the index
// follows them all in the end. "make soak" kills 20 times.
func TestCorrectingKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Parallel()
	kills := inSoak(2, 20)
	data, flags, _, _ := servedTown(t)
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "80"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ids, config := idsOf(t, data), correctorsConfig(t, "")
	acknowledged := map[string]string{} // the last name of each address
	numbers := map[float64]bool{}
	for round := range kills {
		serve, base := correctors(t, data, config)
		for n := 0; ; n++ {
			id, name := ids[rand.IntN(len(ids))], fmt.Sprintf("Name %d.%d", round, n)
			status, answer := askOperator(correctorsToken, "POST", base+"/v1/corrections", map[string]any{"address": id, "what": "name", "value": name})
			if status == 0 {
				delete(acknowledged, id) // it may be stored, or not
				break
			}
			if status != http.StatusCreated || numbers[answer["number"].(float64)] {
				t.Fatalf("%d %v", status, answer)
			}
			acknowledged[id], numbers[answer["number"].(float64)] = name, true
			if n == 3 {
				time.AfterFunc(rand.N(1200*time.Millisecond), func() { serve.Process.Kill() })
			}
		}
		serve.end(t)
	}
	log, err := corrections.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	for number := range numbers {
		if _, ok := log.Entry(int(number)); !ok {
			t.Errorf("correction %v was acknowledged and is lost", number)
		}
	}
	serve, base := correctors(t, data, config)
	for id, name := range acknowledged {
		var h map[string]any
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			_, body := fetchText(t, base+"/v1/addresses/"+id)
			var v map[string]map[string]any
			json.Unmarshal([]byte(body), &v)
			h = v["properties"]
			if h["name"] == name {
				break
			}
		}
		if h["name"] != name {
			t.Errorf("%s is %v, and %q was acknowledged", id, h["name"], name)
		}
	}
	serve.Process.Signal(os.Interrupt)
	if code := serve.end(t); code != exitOK {
		t.Errorf("exit %d", code)
	}
	t.Logf("%d corrections were acknowledged, of %d addresses, in %d kills", len(numbers), len(acknowledged), kills)
}

// What a person corrects in the browser survives a revisit, a replay and retraining, whoever runs at
// that moment, and an undo brings back what was.
func TestCorrectionsSurvive(t *testing.T) {
	if testing.Short() {
		t.Skip("several processes")
	}
	t.Parallel()
	data, flags, _, _ := servedTown(t)
	config := correctorsConfig(t, "revisit: {first: 1ms, min: 1ms, max: 1ms}\n")
	archive, again := filepath.Join(data, "archive"), t.TempDir()
	crawl := append([]string{"crawl", "--quiet", "--max-pages", "100", "--warc", archive, "--config", config}, flags...)
	gazehound := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		cmd := program(args...)
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v", strings.Join(args, " "), err)
		}
		return out.String()
	}
	gazehound(crawl...)
	ids := idsOf(t, data)
	renamed, rejected, closed := ids[0], ids[1], ids[2]
	const name = "Kontor <i>Quendel</i>"
	serve, base := correctors(t, data, config)
	numbers := map[string]any{}
	for _, c := range []map[string]any{{"address": renamed, "what": "name", "value": name}, {"address": rejected, "what": "reject"},
		{"address": closed, "what": "gone", "value": "closed"}} {
		status, answer := askOperator(correctorsToken, "POST", base+"/v1/corrections", c)
		if status != http.StatusCreated {
			t.Fatalf("%d %v", status, answer)
		}
		numbers[c["address"].(string)] = answer["number"]
	}
	check := func(when, dir string, corrected bool) {
		t.Helper()
		found := map[string]map[string]any{}
		for lines := bufio.NewScanner(strings.NewReader(gazehound("export", "ndjson", "--data", dir))); lines.Scan(); {
			var v map[string]any
			if json.Unmarshal(lines.Bytes(), &v) == nil {
				found[v["ref"].(string)] = v
			}
		}
		_, there := found[rejected]
		if there == corrected || (found[renamed]["name"] == name) != corrected || (found[closed]["@status"] == "closed") != corrected ||
			corrected && !slices.Contains(found[renamed]["@corrected"].([]any), any("name")) {
			t.Errorf("%s: %v, %v, the rejected one is there: %v", when, found[renamed], found[closed], there)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if status, _ := fetchText(t, base+"/v1/addresses/"+rejected); status == http.StatusNotFound {
			break
		}
	}
	if _, body := fetchText(t, base+"/v1/search?q=quendel"); !strings.Contains(body, renamed) || strings.Contains(body, rejected) {
		t.Errorf("the search does not follow: %s", body)
	}
	check("at once", data, true)
	gazehound(append(crawl, "--revisit")...) // beside the server
	check("revisit", data, true)
	gazehound("retrain", "--quiet", "--data", data)
	gazehound("replay", "--quiet", "--data", data, archive, "--into", again)
	check("replay", again, true)
	for _, n := range numbers {
		if status, answer := askOperator(correctorsToken, "POST", base+"/v1/corrections", map[string]any{"undo": n}); status != http.StatusCreated {
			t.Errorf("undo: %d %v", status, answer)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if status, _ := fetchText(t, base+"/v1/addresses/"+rejected); status == http.StatusOK {
			break
		}
	}
	check("undo", data, false)
	gazehound(append(crawl, "--revisit")...)
	check("revisit after undo", data, false)
	serve.Process.Signal(os.Interrupt)
	serve.end(t)
}
