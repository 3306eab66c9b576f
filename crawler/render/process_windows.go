package render

import "os/exec"

// confine does nothing: memory is not limited here, and a browser whose pipe is closed ends by itself.
func (b *Browser) confine(*exec.Cmd) {}
