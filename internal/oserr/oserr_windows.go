// Package oserr names the errors of the operating system that the program
// answers to, under the numbers that each system has for them.
package oserr

import "golang.org/x/sys/windows"

const (
	Full     = windows.ERROR_DISK_FULL           // no space is left on the disk
	ReadOnly = windows.ERROR_WRITE_PROTECT       // the disk cannot be written to
	Files    = windows.ERROR_TOO_MANY_OPEN_FILES // this process has too many files open
	InUse    = windows.WSAEADDRINUSE             // another program listens there
	Refused  = windows.WSAECONNREFUSED           // nobody listens there
	Reset    = windows.WSAECONNRESET             // the other side broke the connection off
)
