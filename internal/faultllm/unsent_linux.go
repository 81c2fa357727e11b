package faultllm

import (
	"net"
	"syscall"
	"unsafe"
)

const siocOutqNSD = 0x894b // SIOCOUTQNSD of linux/sockios.h

// unsent returns how many bytes the kernel has not sent yet; 0 if it does not say.
func unsent(c *net.TCPConn) int {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	var n int32
	_ = raw.Control(func(fd uintptr) { // if it fails, n stays 0.
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, fd, siocOutqNSD, uintptr(unsafe.Pointer(&n)))
	})
	return int(n)
}
