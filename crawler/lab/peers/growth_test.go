package peers

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/monitor/report"

	"gonum.org/v1/plot/plotter"
)

var (
	growth = flag.String("growth", "", "of BenchmarkGrowth: NAME of the files, without .csv, .svg and .png")
	memory = flag.String("memory", "500MB", "of BenchmarkGrowth: storage.memory of the crawl")
	every  = flag.Duration("every", 10*time.Second, "of BenchmarkGrowth: between two looks at the crawl")
)

// A sample is how a crawl stood at one moment.
type sample struct {
	At                time.Duration // since the crawl began
	Pages, Relevant   int64
	Queued, Visited   int64         // links
	CPU, Web          time.Duration // of the crawl, of the made-up web, so far
	RSS, Peak         int64         // bytes, of the crawl
	Own, Mapped, Disk int64         // bytes: of RSS the process's own and mapped files; of the data directory
}

var growthColumns = []string{"seconds", "pages", "relevant", "queued", "visited", "pages_per_s", "cpu_s_per_1000",
	"web_cpu_s_per_1000", "rss_mb", "peak_mb", "own_mb", "mapped_mb", "disk_mb"}

// row returns s as a line of the table; rates are those since the sample last.
func (s sample) row(last sample) []string {
	pages := float64(max(s.Pages-last.Pages, 1))
	f := func(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }
	mb := func(n int64) string { return f(float64(n)/1e6, 1) }
	n := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{
		f(s.At.Seconds(), 1), n(s.Pages), n(s.Relevant), n(s.Queued), n(s.Visited),
		f(rate(last, s), 1), f(1000*(s.CPU-last.CPU).Seconds()/pages, 3), f(1000*(s.Web-last.Web).Seconds()/pages, 3),
		mb(s.RSS), mb(s.Peak), mb(s.Own), mb(s.Mapped), mb(s.Disk),
	}
}

// rate returns the pages a second between two samples.
func rate(from, to sample) float64 {
	return float64(to.Pages-from.Pages) / max((to.At-from.At).Seconds(), 1e-3)
}

// BenchmarkGrowth makes one crawl of many pages, writes how it went along the way to NAME.csv,
// draws it, and prints whether it became slower or larger. An interrupt ends the crawl as it
// would end a user's, and the figures are those of what was crawled.
func BenchmarkGrowth(b *testing.B) {
	if *growth == "" {
		b.Skip("one long crawl: -growth NAME")
	}
	interrupted, stopListening := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stopListening()
	dir := b.TempDir()
	j, web := serve(b, dir)
	crawl, data := gazehound(b, j, dir, "--admin", "off", "--serve", "off", "--memory", *memory)
	crawl.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // our interrupt is not yet its own
	var problems bytes.Buffer
	crawl.Stderr = &problems
	if err := crawl.Start(); err != nil {
		b.Fatal(err)
	}
	stop := context.AfterFunc(interrupted, func() { crawl.Process.Signal(syscall.SIGTERM) })
	defer stop()
	samples, err := watch(data, crawl, web.Pid)
	if err != nil && interrupted.Err() == nil {
		b.Fatalf("crawl: %v: %s", err, problems.String())
	}
	if len(samples) < 4 {
		b.Fatalf("only %d samples: crawl more pages, or look more often than every %v", len(samples)-1, *every)
	}
	if err := errors.Join(writeTable(*growth+".csv", samples), drawGrowth(*growth, samples)); err != nil {
		b.Fatal(err)
	}
	summarise(os.Stdout, samples, crawl.ProcessState.SysUsage().(*syscall.Rusage).Maxrss*1024)
}

// watch looks at a crawl until it ends, and returns how it stood from time to time.
func watch(data string, crawl *exec.Cmd, web int) (samples []sample, err error) {
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- crawl.Wait() }()
	samples = []sample{{}}
	ticks := time.NewTicker(*every)
	defer ticks.Stop()
	for {
		select {
		case err := <-ended:
			last := samples[len(samples)-1]
			end, _ := look(data, crawl.Process.Pid, web) // the process is gone, its status is there
			end.At, end.CPU = time.Since(began), crawl.ProcessState.UserTime()+crawl.ProcessState.SystemTime()
			if end.RSS, end.Peak = last.RSS, last.Peak; end.Pages > last.Pages {
				samples = append(samples, end)
			}
			return samples, err
		case <-ticks.C:
		}
		s, err := look(data, crawl.Process.Pid, web)
		if err != nil {
			continue // it has just begun, or just ended
		}
		s.At = time.Since(began)
		fmt.Fprintln(os.Stderr, strings.Join(s.row(samples[len(samples)-1]), "  "))
		samples = append(samples, s)
	}
}

func writeTable(name string, samples []sample) error {
	rows := [][]string{growthColumns}
	for i, s := range samples[1:] {
		rows = append(rows, s.row(samples[i]))
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(file).WriteAll(rows), file.Close())
}

// look reads how the crawl stands: from its status file and from the system.
func look(data string, crawl, web int) (s sample, err error) {
	var status struct {
		Pages    int64 `json:"pages"`
		Relevant int64 `json:"relevant"`
		Queued   int64 `json:"links_queued"`
		Visited  int64 `json:"links_visited"`
		Own      int64 `json:"memory_own"`
		Mapped   int64 `json:"memory_mapped"`
	}
	text, err := os.ReadFile(filepath.Join(data, "status.json"))
	if err == nil {
		err = json.Unmarshal(text, &status)
	}
	if err != nil {
		return s, err
	}
	s.Pages, s.Relevant, s.Queued, s.Visited, s.Own, s.Mapped = status.Pages, status.Relevant, status.Queued, status.Visited, status.Own, status.Mapped
	var err1, err2, err3 error
	s.CPU, err1 = cpuOf(crawl)
	s.Web, err2 = cpuOf(web)
	s.RSS, s.Peak, err3 = memoryOf(crawl)
	filepath.WalkDir(data, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return nil // a file that has just gone
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			s.Disk += info.Sys().(*syscall.Stat_t).Blocks * 512 // files of the stores have holes
		}
		return nil
	})
	return s, errors.Join(err1, err2, err3)
}

// cpuOf returns the processor time of a process.
func cpuOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, io.ErrUnexpectedEOF
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * (time.Second / 100), errors.Join(err1, err2)
}

// memoryOf returns the resident set of a process, and the largest that it had.
func memoryOf(pid int) (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		var kB int64
		switch fmt.Sscan(value, &kB); name {
		case "VmRSS":
			now = kB * 1024
		case "VmHWM":
			peak = kB * 1024
		}
	}
	if now == 0 {
		err = io.ErrUnexpectedEOF
	}
	return now, peak, err
}

// stretch returns the first samples with at least so many pages.
func stretch(samples []sample, from, to int64) (first, last sample) {
	at := func(page int64) sample {
		i := slices.IndexFunc(samples, func(s sample) bool { return s.Pages >= page })
		if i < 0 {
			i = len(samples) - 1
		}
		return samples[i]
	}
	return at(from), at(to)
}

// summarise prints whether the crawl became slower or larger as it grew.
func summarise(w io.Writer, samples []sample, peak int64) {
	end := samples[len(samples)-1]
	fmt.Fprintf(w, "\n%d pages (%d relevant) of a made-up web with %d sites in %.0f s, %d at a time, --memory %s; %d links wait, %.0f MB on disk\n\n",
		end.Pages, end.Relevant, *sites, end.At.Seconds(), *workers, *memory, end.Queued, float64(end.Disk)/1e6)
	fmt.Fprintln(w, "| pages | pages/s | CPU s per 1,000 pages | of the web's server | the first by the second | most memory so far |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	// A page costs the server always the same, so that the last ratio tells a
	// crawl that becomes slower from a machine that does.
	line := func(from, to int64) (pagesPerSecond, cpu, byServer float64) {
		a, b := stretch(samples, from, to)
		if a.Pages == b.Pages {
			return 0, 0, 0
		}
		n := float64(b.Pages - a.Pages)
		pagesPerSecond, cpu = rate(a, b), 1000*(b.CPU-a.CPU).Seconds()/n
		server := 1000 * (b.Web - a.Web).Seconds() / n
		byServer = cpu / max(server, 1e-9)
		fmt.Fprintf(w, "| %d to %d | %.0f | %.2f | %.2f | %.1f | %.0f MB |\n", a.Pages, b.Pages, pagesPerSecond,
			cpu, server, byServer, float64(b.Peak)/1e6)
		return pagesPerSecond, cpu, byServer
	}
	// A twentieth of the crawl is its first stretch: 50,000 of 1,000,000 pages.
	step := max(end.Pages/20, 1)
	early, earlyCPU, earlyByServer := line(step/2, step*3/2)
	for from := step * 3 / 2; from < end.Pages-step*5/2; from += 3 * step {
		line(from, from+3*step)
	}
	late, lateCPU, lateByServer := line(end.Pages-step, end.Pages)
	fmt.Fprintf(w, "\nat the end ÷ at %d pages: pages/s %.2f, CPU s per 1,000 pages %.2f, by the server's %.2f; most memory %.0f MB\n",
		step, late/max(early, 1e-9), lateCPU/max(earlyCPU, 1e-9),
		lateByServer/max(earlyByServer, 1e-9), float64(peak)/1e6)
	fmt.Fprintf(w, "%s.csv, %s.svg and %s.png show the way there\n", *growth, *growth, *growth)
}

// drawGrowth draws the samples over the pages to name.svg and name.png.
func drawGrowth(name string, samples []sample) error {
	perThousand := func(used time.Duration, a, b sample) float64 {
		return 1000 * used.Seconds() / float64(max(b.Pages-a.Pages, 1))
	}
	type measure struct {
		name string
		of   func(a, b sample) float64
	}
	figures := []struct {
		title, y string
		lines    []measure
	}{
		{"Speed", "pages/s", []measure{{"gazehound", rate}}},
		{"Processor time", "CPU s per 1,000 pages", []measure{
			{"gazehound", func(a, b sample) float64 { return perThousand(b.CPU-a.CPU, a, b) }},
			{"its web site", func(a, b sample) float64 { return perThousand(b.Web-a.Web, a, b) }},
		}},
		{"Memory", "MB resident", []measure{
			{"all", func(_, b sample) float64 { return float64(b.RSS) / 1e6 }},
			{"own", func(_, b sample) float64 { return float64(b.Own) / 1e6 }},
		}},
		{"Queue", "thousand links that wait", []measure{
			{"links", func(_, b sample) float64 { return float64(b.Queued) / 1e3 }}}},
	}
	// A point for each hundredth of the crawl: single samples jump.
	points := []sample{samples[0]}
	for _, s := range samples[1:] {
		if s.Pages-points[len(points)-1].Pages >= samples[len(samples)-1].Pages/100 {
			points = append(points, s)
		}
	}
	var drawn []report.Figure
	for _, f := range figures {
		g := report.Figure{Title: f.title, X: "thousand pages", Y: f.y}
		for k, m := range f.lines {
			line := report.Line{Name: m.name, Number: k}
			for i, b := range points[1:] {
				line.Points = append(line.Points, plotter.XY{X: float64(b.Pages) / 1000, Y: m.of(points[i], b)})
			}
			g.Lines = append(g.Lines, line)
		}
		drawn = append(drawn, g)
	}
	for _, ext := range []string{".svg", ".png"} {
		if _, err := report.DrawFigures(name+ext, drawn); err != nil {
			return err
		}
	}
	return nil
}
