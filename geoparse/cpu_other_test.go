//go:build !unix

package geoparse

import "time"

// cpuTime returns the time that has passed: processor time is not known here.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
