package forget

import (
	"time"

	"gazehound/internal/check"
	"gazehound/internal/textutil"
)

// Check looks for pending requests and unfinished removals.
func (d Dir) Check() (found []check.Finding) {
	const name = "removals"
	if pending, err := d.Pending(); pending != nil || err != nil {
		found = append(found, check.Broken(name, "gazehound forget", "a removal was interrupted and is not complete"))
	}
	missing, err := d.readBlocked(func(string) error { return nil })
	if err != nil {
		found = append(found, check.Broken(name, "", "%v", err))
	} else if len(missing) > 0 {
		found = append(found, check.Doubt(name, "put them back; # before a line lets later crawls find it again",
			"%s lacks %s of %s, such as %q; they are blocked all the same", d.blocked(),
			textutil.Several(len(missing), "line"), d.log(), missing[0]))
	}
	waiting, err := d.Waiting()
	switch {
	case err != nil:
		return append(found, check.Broken(name, "", "%v", err))
	case len(waiting) > 0:
		return append(found, check.Doubt(name, "gazehound forget --requests", "%s of visitors since %s",
			textutil.Several(len(waiting), "request"), waiting[0].Time.Format(time.DateOnly)))
	}
	return append(found, check.Well(name, "no pending removal requests"))
}
