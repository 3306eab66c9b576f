package main

import "syscall"

// statusSignal makes a crawl print its status line. Windows has no such signal and sends none:
// there "gazehound status" prints the same.
const statusSignal = syscall.Signal(-1)
