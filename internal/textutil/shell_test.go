//go:build unix

package textutil

import (
	"os/exec"
	"testing"
)

// A printed command can be pasted: a shell gives the program the argument that was meant.
func TestShellQuote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arg, want string }{
		{"gazehound-data", "gazehound-data"}, {"/srv/süd_1/a.csv", "/srv/süd_1/a.csv"}, {"", "''"},
		{"süd [1] o'x", `'süd [1] o'\''x'`}, {"$HOME", "'$HOME'"}, {"a;b", "'a;b'"}, {"~", "'~'"}, {"`x`\\", "'`x`\\'"},
	} {
		got := ShellQuote(c.arg)
		if got != c.want {
			t.Errorf("%q is quoted as %s, want %s", c.arg, got, c.want)
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+got).Output(); err != nil || string(out) != c.arg {
			t.Errorf("a shell reads %s as %q, %v", got, out, err)
		}
	}
}
