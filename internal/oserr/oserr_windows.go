// Package oserr names the errors of the operating system that the program
// answers to, under the numbers that each system has for them.
package oserr

import "golang.org/x/sys/windows"

const (
	Full    = windows.ERROR_DISK_FULL // no space is left on the disk
	InUse   = windows.WSAEADDRINUSE   // another program listens there
	Refused = windows.WSAECONNREFUSED // nobody listens there
	Reset   = windows.WSAECONNRESET   // the other side broke the connection off
)
