//go:build unix

package render

import (
	"fmt"
	"os/exec"
	"syscall"
)

// confine limits the memory of each process of the browser, and ends all of them with the first: they
// are a process group. It is the shell that knows the limit, because a limit of our own would be ours.
func (b *Browser) confine(cmd *exec.Cmd) {
	limit := fmt.Sprintf(`ulimit -d %d; exec "$0" "$@"`, b.options.Memory>>10)
	cmd.Args = append([]string{"sh", "-c", limit, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
