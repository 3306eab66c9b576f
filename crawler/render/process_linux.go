package render

import "syscall"

// dieWithParent makes the kernel end the browser when this process is killed.
func dieWithParent(p *syscall.SysProcAttr) { p.Pdeathsig = syscall.SIGKILL }
