package monitor

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// The files for Grafana and Prometheus are valid and use only metrics that /metrics has.
func TestOps(t *testing.T) {
	a, _ := testAdmin(t, nil)
	a.o.Board.list(placeIn("Straße 1"), 3)
	a.o.Board.counted = true
	a.o.Board.losses[0].add(.5, true)
	a.o.Board.Tick(Snapshot{At: time.Now(), Pages: recent, Relevant: 1, Errors: map[string]int64{"dns": 1}, Skipped: map[string]int64{"robots": 1}})
	text := ask(a, "GET", "/metrics", "").Body.String()
	promtool(t, text, "check", "metrics")
	promtool(t, "", "check", "rules", filepath.Join("..", "..", "docs", "ops", "alerts.yml"))
	var have []string
	for _, m := range regexp.MustCompile(`(?m)^(\w+)[{ ]`).FindAllStringSubmatch(text, -1) {
		have = append(have, m[1])
	}
	for _, name := range []string{"grafana.json", "alerts.yml"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", "ops", name))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if strings.HasSuffix(name, ".json") {
			err = json.Unmarshal(data, &v)
		} else {
			err = yaml.Unmarshal(data, &v)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		asks := regexp.MustCompile(`gazehound_\w+`).FindAllString(string(data), -1)
		if len(asks) < 5 {
			t.Errorf("%s asks for %v only", name, asks)
		}
		for _, ask := range asks {
			if !slices.Contains(have, ask) {
				t.Errorf("%s asks for %s, which /metrics does not have", name, ask)
			}
		}
	}
}

// promtool checks input with Prometheus' own tool, if it is installed.
func promtool(t *testing.T, input string, args ...string) {
	t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
		tool, err := exec.LookPath("promtool")
		if err != nil {
			t.Skip("no promtool here (Debian: prometheus)")
		}
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Stdin = strings.NewReader(input)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	})
}
