package index

import (
	"context"
	"errors"
	"io/fs"
	"os"

	health "gazehound/internal/check"
	"gazehound/internal/textutil"
)

// Check checks whether the index in dir is readable; upgrade and remake say how one of an older format and
// a damaged one are rebuilt. holder is the process ID of the running crawl, or 0.
func Check(ctx context.Context, dir, upgrade, remake string, holder int) health.Finding {
	const name = "index"
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return health.Well(name, "none yet")
	}
	x, err := OpenReadOnly(dir)
	switch {
	case errors.Is(err, ErrLocked) && holder != 0:
		return health.Well(name, "process %d has it open", holder)
	case errors.Is(err, ErrOlderFormat):
		return health.Broken(name, upgrade, "%v", err)
	case errors.Is(err, ErrDamaged):
		return health.Broken(name, remake, "%v", err)
	case err != nil:
		return health.Broken(name, "", "%v", err)
	}
	defer x.Close() // read only
	s, err := x.Stats(ctx)
	if err != nil {
		return health.Broken(name, "", "%v", err)
	}
	return health.Well(name, "%s on %s", textutil.Several(s.Addresses, "address"), textutil.Several(s.Pages, "page"))
}
