package warc

import (
	"errors"
	"io/fs"

	"gazehound/internal/check"
	"gazehound/internal/textutil"
)

// Check looks at the ends of the WARC files of a folder, where a torn write would
// be. list is the file that names the folder; running says that a crawl may be
// writing.
func Check(dir, list string, running bool) check.Finding {
	const name = "archive"
	ends, err := CheckEnds(dir)
	files := textutil.Several(ends.Files, "WARC file")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return check.Doubt(name, "take its line out of "+list+" if it was moved on purpose", "the folder %s is not there any more", dir)
	case err != nil:
		return check.Broken(name, "", "%v", err)
	case len(ends.Torn) > 0:
		return check.Broken(name, "everything before the tear can be read; copy the file from where it is whole",
			"%s: %s, of which %d torn: %s", dir, files, len(ends.Torn), ends.Torn[0])
	case len(ends.Open) > 0 && !running:
		return check.Doubt(name, "the next crawl --warc cuts a torn record off and gives it its name",
			"%s: %s left open: %s", dir, textutil.Several(len(ends.Open), "WARC file"), ends.Open[0])
	}
	return check.Well(name, "%s: %s, no torn end", dir, files)
}
