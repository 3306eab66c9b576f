//go:build unix

package main

import "syscall"

// statusSignal makes a crawl print its status line.
const statusSignal = syscall.SIGUSR1
