//go:build !linux

package faultllm

import "net"

// unsent knows nothing of other kernels.
func unsent(*net.TCPConn) int { return 0 }
