package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"

	"gazehound/internal/notices"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// onSignals calls heard with 1 at the first of these signals, with 2 at the second and so on, until
// stop is called.
func onSignals(heard func(n int), signals ...os.Signal) (stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, signals...)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			select {
			case <-c:
				heard(n)
			case <-ended:
				return
			}
		}
	}()
	return func() {
		signal.Stop(c)
		close(ended)
		<-done
	}
}

// memoryShare of storage.memory is the limit of the Go runtime, which counts heap, stacks and the
// buffers of the stores. The rest is for memory outside the limit and for peaks.
const memoryShare = 0.85

// limitMemory keeps the anonymous memory of the process below storage.memory. What is mapped from
// files counts for nothing: the system takes it back whenever it needs room.
//
// Below that the heap may grow to 2.15 times what is in use before it is collected: three times would take
// 80 MB more at 20,000 pages and save 4 % of the processor time. GOGC says otherwise.
func limitMemory(cfg *Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(115)
	}
	runtime.MemProfileRate = 0 // nothing writes a profile of memory
	debug.SetMemoryLimit(int64(memoryShare * float64(cfg.Storage.Memory)))
}

// confirm asks a question on the terminal; without a terminal the answer is no.
func (a *app) confirm(question string) bool {
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// startProfile writes a CPU profile to a file until stop is called; without a name it does nothing.
func startProfile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fail(badUsage, "--cpu-profile: %w", err)
	}
	err = pprof.StartCPUProfile(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// count, several and megabytes write numbers for people; see package textutil.
func count[N int | int64](n N) string                { return textutil.Count(n) }
func several[N int | int64](n N, what string) string { return textutil.Several(n, what) }
func megabytes(n int64) string                       { return textutil.Megabytes(n) }

// ratio returns a share of a whole, 0 of none.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// round rounds x to so many decimals.
func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}

// versionText says which program this is.
func versionText() string {
	return fmt.Sprintf("gazehound %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

const versionHelp = `Examples:
  gazehound version
  gazehound version --json
`

func newVersionCommand(a *app) *cobra.Command {
	return command("version", "Print the version", versionHelp, noArgs, func(ctx context.Context, args []string) error {
		return a.tell(fields{"type": "version", "version": version, "commit": commit(), "go": runtime.Version()},
			"%s", versionText())
	})
}

const licencesHelp = `Prints the licences of Go, of the modules that the program is built from, and of the
data in it. Those of your own data are in LICENCES of the data directory.

Examples:
  gazehound licences > THIRD-PARTY-NOTICES
`

func newLicencesCommand(a *app) *cobra.Command {
	c := command("licences", "Print the licences of gazehound and its parts", licencesHelp, noArgs,
		func(ctx context.Context, args []string) error {
			text, err := notices.Text()
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, text)
			return err
		})
	c.Aliases = []string{"licenses"}
	return c
}

// commit returns the revision that the program was built from, or "".
func commit() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
