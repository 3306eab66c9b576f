//go:build !linux

package gazetteer

import "time"

// cpuTime returns the time that has passed: processor time is not known here.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

// dropFromCache reports that the file cannot be dropped from memory here.
func dropFromCache(*Gazetteer, string) bool { return false }
