package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

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

// memoryShare of storage.memory is the limit of the Go runtime, which counts heap, stacks and the
// buffers of the stores. The rest is what the limit does not see, and room for moments above it.
const memoryShare = 0.85

// limitMemory keeps the anonymous memory of the process below storage.memory. What is mapped from
// files counts for nothing: the system takes it back whenever it needs room.
func limitMemory(cfg *Config) {
	debug.SetMemoryLimit(int64(memoryShare * float64(cfg.Storage.Memory)))
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
