package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// onSignals calls heard with 1 at the first SIGINT or SIGTERM, with 2 at the
// second, until stop is called.
func onSignals(heard func(n int)) (stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	done := make(chan struct{})
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

// onSignal calls heard for every such signal until stop is called.
func onSignal(s os.Signal, heard func()) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, s)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-c:
				heard()
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

// processorTime returns what the process has computed, on all cores together.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// diskFree returns the bytes that we may still write below dir.
func diskFree(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// confirm asks a question on the terminal; without one the answer is no.
func (a *app) confirm(question string) bool {
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
