//go:build unix && !linux

package render

import "syscall"

// dieWithParent does nothing: a browser whose pipe is closed ends by itself.
func dieWithParent(*syscall.SysProcAttr) {}
