package frontier

import (
	"math"
	"time"
)

// patienceWindow is the time over which worker time is weighed, in seconds: what was 60 seconds ago
// counts 1/e.
const patienceWindow = 60

// A workTime measures the time of the workers, in seconds, the recent more than the past.
type workTime struct {
	at   time.Duration // up to which it is measured
	busy float64       // entries were leased
	lost float64       // workers held back for better entries and a host was ready
}

// account measures the time since the last call; f.mu is held. It is called before the number of
// leased entries, of workers that hold back, or the hosts that are ready change.
func (f *Frontier) account() {
	w, now := &f.work, f.now()
	seconds := (now - w.at).Seconds()
	w.at = now
	keep := math.Exp(-seconds / patienceWindow)
	w.busy = w.busy*keep + float64(f.leased)*seconds
	w.lost = w.lost*keep + float64(min(f.selecting, f.ready.Len()))*seconds
}

// selectivity returns the share of a better entry's priority below which an entry is held back now:
// Options.Selectivity while no time is lost, and 0 when Options.Patience is used up.
func (f *Frontier) selectivity() float64 {
	if f.options.Selectivity == 0 || f.options.Patience == 0 {
		return 0
	}
	if f.options.Patience >= 1 || f.work.lost == 0 {
		return f.options.Selectivity
	}
	share := f.work.lost / (f.work.lost + f.work.busy)
	return f.options.Selectivity * max(0, 1-share/f.options.Patience)
}
