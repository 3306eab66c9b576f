package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
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

// memoryShare of storage.memory is the limit of the Go runtime, which counts heap, stacks and the
// buffers of the stores. The rest is what the limit does not see, and room for moments above it.
const memoryShare = 0.85

// limitMemory keeps the anonymous memory of the process below storage.memory. What is mapped from
// files counts for nothing: the system takes it back whenever it needs room.
func limitMemory(cfg *Config) {
	debug.SetMemoryLimit(int64(memoryShare * float64(cfg.Storage.Memory)))
}

// memoryUse returns the resident memory of the process in bytes: anonymous (heap, stacks, buffers)
// and mapped from files. Both are 0 where the system does not tell.
func memoryUse() (anonymous, mapped int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	var size, resident, shared int64 // in pages
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	return (resident - shared) * page, shared * page
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
