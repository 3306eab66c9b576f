package console

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// What is said depends on flags first, then on the configuration.
func TestConsole(t *testing.T) {
	for _, c := range []struct {
		name          string
		console       Console
		level, format string
		want          string
		debug         bool
	}{
		{"text", Console{}, "info", "text", "a 1\nwarning: b 2\nerror: c d\n", false},
		{"quiet", Console{Quiet: true}, "debug", "text", "warning: b 2\nerror: c d\n", false},
		{"configured quiet", Console{}, "warn", "text", "warning: b 2\nerror: c d\n", false},
		{"verbose", Console{Verbose: 1}, "warn", "text", "a 1\nwarning: b 2\nerror: c d\n", true},
		{"text by flag", Console{Format: "text"}, "info", "json", "a 1\nwarning: b 2\nerror: c d\n", false},
	} {
		var out bytes.Buffer
		k := &c.console
		k.Err = &out
		k.Configure(c.level, c.format)
		k.Say("a %d", 1)
		k.Warn("b %d", 2)
		k.Failed(3, "c\nd")
		if out.String() != c.want || k.Says(slog.LevelDebug) != c.debug {
			t.Errorf("%s: %q, debug %v", c.name, out.String(), k.Says(slog.LevelDebug))
		}
	}
	var out bytes.Buffer
	k := &Console{Err: &out}
	k.Configure("info", "json")
	k.Configure("info", "text") // what is JSON once stays so
	k.Say("a\n")
	k.Failed(3, "c")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"level":"INFO","msg":"a"}`) || !strings.Contains(lines[1], `"msg":"c","exit_code":3}`) ||
		!strings.Contains(lines[0], `Z","level"`) {
		t.Errorf("JSON: %q", lines)
	}
}
