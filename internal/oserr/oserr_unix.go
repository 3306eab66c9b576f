//go:build unix

// Package oserr names the errors of the operating system that the program
// answers to, under the numbers that each system has for them.
package oserr

import "syscall"

const (
	Full     = syscall.ENOSPC       // no space is left on the disk
	ReadOnly = syscall.EROFS        // the disk cannot be written to
	Files    = syscall.EMFILE       // this process has too many files open
	InUse    = syscall.EADDRINUSE   // another program listens there
	Refused  = syscall.ECONNREFUSED // nobody listens there
	Reset    = syscall.ECONNRESET   // the other side broke the connection off
)
