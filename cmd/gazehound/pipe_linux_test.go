package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// narrow has a pipe hold one page of memory, so that who writes is never far
// ahead of who reads.
func narrow(pipe *os.File) error {
	_, err := unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize())
	return err
}
