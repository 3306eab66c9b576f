package warc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// manifestOf reads the manifest of a data directory.
func manifestOf(t testing.TB, data, known string) *Manifest {
	t.Helper()
	m, err := ReadManifest(filepath.Join(data, "archives.txt"), known)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// writePages writes pages of two hosts to a folder, as a project does.
func writePages(t testing.TB, data, dir string) {
	t.Helper()
	o := DefaultWriterOptions()
	o.Dir, o.Manifest = dir, manifestOf(t, data, "")
	w, err := NewWriter(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, capture(t, "http://gone.example/", 200, "gone"))
	put(t, w, capture(t, "http://kept.example/", 200, "kept"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// says reports whether a folder has a record of gone.example.
func says(t testing.TB, dir string) bool {
	t.Helper()
	return open(t, dir).Has(mustURL(t, "http://gone.example/"))
}

// A data directory that was copied or moved has its own archives, not those of the original; a
// folder is listed once.
func TestArchivesMoveWithTheData(t *testing.T) {
	root := t.TempDir()
	original, outside := filepath.Join(root, "original"), filepath.Join(root, "elsewhere")
	if err := os.Mkdir(original, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(original, "warc"), outside, filepath.Join(original, "warc", "."), outside} {
		if err := manifestOf(t, original, "").AddFolder(dir); err != nil {
			t.Fatal(err)
		}
	}
	moved := filepath.Join(root, "moved")
	if err := os.Rename(original, moved); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(moved, "warc"), outside}
	if got := manifestOf(t, moved, "").Folders(); !slices.Equal(got, want) {
		t.Errorf("folders %q, want %q", got, want)
	}
	t.Chdir(root)
	m := manifestOf(t, "moved", "")
	if err := m.AddFolder(filepath.Join("moved", "warc")); err != nil {
		t.Fatal(err)
	}
	if got := manifestOf(t, moved, "").Folders(); !slices.Equal(got, want) {
		t.Errorf("folders %q after one was named once more, want %q", got, want)
	}
}

// Outside of the data directory only files are touched that the project has written, and only as
// long as they are those files.
func TestForgetOutside(t *testing.T) {
	removal := Removal{URL: ofGone, Text: noText}
	for _, c := range []struct {
		name     string
		prepare  func(t *testing.T, data, shared string)
		gone     bool // from the shared folder
		complete bool
		foreign  int
	}{
		{"its own file", func(*testing.T, string, string) {}, true, true, 0},
		{"beside the file of another project", func(t *testing.T, data, shared string) {
			writePages(t, t.TempDir(), shared)
		}, false, true, 1},
		{"another file of the same name", func(t *testing.T, data, shared string) {
			name := files(t, shared)[0]
			other := t.TempDir()
			writePages(t, t.TempDir(), other)
			if err := os.Rename(files(t, other)[0], name); err != nil {
				t.Fatal(err)
			}
		}, false, false, 0},
		{"a list that names the folder only", func(t *testing.T, data, shared string) {
			if err := os.WriteFile(filepath.Join(data, "archives.txt"), []byte(shared+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, false, false, 0},
		{"a list that lost the folder", func(t *testing.T, data, shared string) {
			text, err := os.ReadFile(filepath.Join(data, "archives.txt"))
			if err != nil {
				t.Fatal(err)
			}
			_, file, _ := strings.Cut(string(text), "\n")
			if err := os.WriteFile(filepath.Join(data, "archives.txt"), []byte(file), 0o644); err != nil {
				t.Fatal(err)
			}
		}, true, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, shared := t.TempDir(), t.TempDir()
			writePages(t, data, shared)
			c.prepare(t, data, shared)
			n, err := Forget(t.Context(), manifestOf(t, data, ""), removal)
			if err != nil || (len(n.Damaged) == 0) != c.complete || len(n.Foreign) != c.foreign {
				t.Errorf("%+v, %v", n, err)
			}
			if says(t, shared) == c.gone {
				t.Errorf("gone: %v, want %v", !c.gone, c.gone)
			}
		})
	}
}

// What the manifest lists and is not there any more is noticed, until it is back or # before its
// line says that this is meant. A forgotten file and one that forget made shorter are no loss.
func TestManifestKnowsWhatIsMissing(t *testing.T) {
	removal := Removal{URL: ofGone, Text: noText}
	data := t.TempDir()
	writePages(t, data, filepath.Join(data, "warc"))
	copied := manifestOf(t, data, "").String()
	name := files(t, filepath.Join(data, "warc"))[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(data, "archives.txt")
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		prepare  func()
		complete bool
		problems int
	}{
		{"nothing", func() {}, true, 0},
		{"file", func() { os.Remove(name) }, false, 1},
		{"file, on purpose", func() {
			os.Remove(name)
			write(list, []byte(strings.Replace(copied, "\nwarc/", "\n# warc/", 1)))
		}, true, 0},
		{"whole records at the end", func() {
			a := open(t, name)
			last := a.files[0].end
			r := newReader()
			for s := r.scan(a.files[0], a.files[0].end); s.next(); {
				last = s.start
			}
			a.Close()
			write(name, whole[:last])
		}, false, 1},
		{"list", func() { os.Remove(list) }, true, 1},
		{"line of the list", func() { write(list, []byte("warc\n")) }, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(list, []byte(copied))
			write(name, whole)
			c.prepare()
			m := manifestOf(t, data, copied)
			problems := 0
			for _, f := range Check(m, false) {
				if f.State == "fail" {
					problems++
				}
			}
			if problems != c.problems {
				t.Errorf("%d problems, want %d: %v", problems, c.problems, Check(m, false))
			}
			n, err := Forget(t.Context(), m, removal)
			if err != nil || (len(n.Damaged) == 0) != c.complete {
				t.Errorf("forgotten %+v, %v", n, err)
			}
			if _, err := os.Stat(name); err == nil && says(t, name) {
				t.Error("gone.example is still there")
			}
			n, err = Forget(t.Context(), manifestOf(t, data, copied), Removal{URL: ofGone, Text: noText, Lost: true})
			if file := c.name == "file"; err != nil || (len(n.Damaged) > 0) != file {
				t.Errorf("a second time: %+v, %v", n, err)
			}
		})
	}
	write(list, []byte(copied))
	write(name, whole)
	all := Removal{URL: ofAny, Text: noText}
	if n, err := Forget(t.Context(), manifestOf(t, data, copied), all); err != nil || len(n.Damaged) > 0 {
		t.Errorf("everything: %+v, %v", n, err)
	}
	if missing := manifestOf(t, data, copied).Missing(); len(missing) > 0 {
		t.Errorf("after everything was forgotten: %q", missing)
	}
}
