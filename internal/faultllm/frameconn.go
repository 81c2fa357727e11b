package faultllm

import (
	"crypto/rand"
	"encoding/binary"
	"net"
	"sync"
)

// marker is a body that stands for a fault.
type marker [32]byte

// frameConn is a server's connection on which HTTP/2 streams can be broken. A handler does not know the number of its
// stream, so it writes a marker as the last bytes of its body: the frame with the marker, which has the number, is
// replaced by the fault, behind all frames that were written before.
type frameConn struct {
	net.Conn

	mu     sync.Mutex
	begun  bool
	http2  bool
	ended  bool   // what is written is dropped
	buf    []byte // the beginning of a frame
	faults map[marker]pendingFault
	resets []Fault // what the next RST_STREAM frames stand for
}

type pendingFault struct {
	fault Fault
	done  chan struct{}
}

// The layout of HTTP/2 frames (RFC 9113, sections 4.1, 6.4 and 6.8).
const (
	frameHeader = 9

	frameData      = 0x0
	frameRstStream = 0x3
	frameGoAway    = 0x7
)

// frameListener makes all connections frameConns.
type frameListener struct{ net.Listener }

func (l frameListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &frameConn{Conn: c, faults: map[marker]pendingFault{}}, nil
}

// expect returns a marker for the fault, and a channel that is closed when it has happened.
func (c *frameConn) expect(f Fault) (marker, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := pendingFault{fault: f, done: make(chan struct{})}
	var m marker
	_, _ = rand.Read(m[:]) // it never fails.
	c.faults[m] = p
	return m, p.done
}

// expectReset has the next RST_STREAM frame replaced by the fault. A handler that ends without headers makes the server
// write one.
func (c *frameConn) expectReset(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resets = append(c.resets, f)
}

// Write passes on what is written, frame by frame, but for markers.
func (c *frameConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun && len(b) > 0 {
		c.begun, c.http2 = true, b[0] != 'H' // HTTP/1.1 begins with its name, HTTP/2 with the length of a frame.
	}
	switch {
	case c.ended:
		return len(b), nil
	case !c.http2:
		return c.Conn.Write(b)
	}
	c.buf = append(c.buf, b...)
	var out []byte
	for size := c.frame(); size > 0; size = c.frame() {
		frame := c.buf[:size]
		c.buf = c.buf[size:]
		if frame[3] == frameRstStream && len(c.resets) > 0 {
			f := c.resets[0]
			c.resets = c.resets[1:]
			if err := c.flush(&out); err != nil {
				return 0, err
			}
			c.apply(f, frame[5:frameHeader])
			if c.ended {
				return len(b), nil
			}
			continue
		}
		p, marked := c.marked(frame)
		if !marked {
			out = append(out, frame...)
			continue
		}
		if err := c.flush(&out); err != nil {
			return 0, err
		}
		c.apply(p.fault, frame[5:frameHeader])
		close(p.done)
		if c.ended {
			return len(b), nil
		}
	}
	if err := c.flush(&out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// frame returns the size of the first frame of the buffer, or 0 if it is not whole.
func (c *frameConn) frame() int {
	if len(c.buf) < frameHeader {
		return 0
	}
	size := frameHeader + int(c.buf[0])<<16 + int(c.buf[1])<<8 + int(c.buf[2])
	if len(c.buf) < size {
		return 0
	}
	return size
}

// marked takes the fault that the frame stands for.
func (c *frameConn) marked(frame []byte) (pendingFault, bool) {
	if frame[3] != frameData || len(frame) != frameHeader+len(marker{}) {
		return pendingFault{}, false
	}
	m := marker(frame[frameHeader:])
	p, ok := c.faults[m]
	delete(c.faults, m)
	return p, ok
}

func (c *frameConn) flush(out *[]byte) error {
	if len(*out) == 0 {
		return nil
	}
	_, err := c.Conn.Write(*out)
	*out = nil
	return err
}

// apply breaks a stream, whose number is given as in frames, or its connection. If writing fails, it is broken already.
func (c *frameConn) apply(f Fault, stream []byte) {
	switch f.kind {
	case faultResetStream:
		_, _ = c.Conn.Write(append([]byte{0, 0, 4, frameRstStream, 0}, append(stream, code(f)...)...))
	case faultGoAway:
		last := stream
		if f.code != int(H2NoError) {
			last = make([]byte, 4)
		}
		_, _ = c.Conn.Write(append([]byte{0, 0, 8, frameGoAway, 0, 0, 0, 0, 0}, append(last, code(f)...)...))
		if f.code == int(H2NoError) {
			c.close(false)
		}
	default:
		c.close(f.kind == faultReset)
	}
}

// end closes the connection, with a RST if wanted.
func (c *frameConn) end(reset bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(reset)
}

// close closes the connection. On HTTP/2 the client may be sending: only what goes to it is closed, as it would get a
// RST for what is not read. It leaves then, which closes the rest.
func (c *frameConn) close(reset bool) {
	c.ended = c.http2
	tcp, ok := c.Conn.(*net.TCPConn)
	switch {
	case ok && reset:
		awaitSent(tcp)
		_ = tcp.SetLinger(0) // if it fails the connection is broken already.
	case ok && c.http2:
		_ = tcp.CloseWrite() // as above.
		return
	}
	_ = c.Close()
}

func code(f Fault) []byte { return binary.BigEndian.AppendUint32(nil, uint32(f.code)) }
