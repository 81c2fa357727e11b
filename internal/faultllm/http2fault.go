package faultllm

import (
	"context"
	"net"
	"net/http"
	"time"
)

// The error codes of HTTP/2 (RFC 9113, section 7) that a provider may send.
const (
	H2NoError       uint32 = 0x0
	H2InternalError uint32 = 0x2
	H2RefusedStream uint32 = 0x7
	H2Cancel        uint32 = 0x8
	H2EnhanceCalm   uint32 = 0xb
)

// ResetStream ends the response's HTTP/2 stream with RST_STREAM and an error code; the connection stays. In HTTP/1.1 it
// is [CutChunked]. Before the headers a client of net/http makes the request again by itself if the code is
// [H2RefusedStream].
func ResetStream(at Position, code uint32) Fault {
	return Fault{kind: faultResetStream, at: at, code: int(code)}
}

// GoAway ends the HTTP/2 connection with GOAWAY. With [H2NoError] the response's stream is the last one that the server
// answers for, and the connection is closed at once; with any other code it answers for none, and the client closes the
// connection, and makes the request again by itself if it has had no headers. In HTTP/1.1 it is [CutChunked].
func GoAway(at Position, code uint32) Fault {
	return Fault{kind: faultGoAway, at: at, code: int(code)}
}

// HTTP2Client returns a client that speaks HTTP/2 to a server, without TLS and without asking for it first. It has
// connections of its own, to be closed with [net/http.Client.CloseIdleConnections]. Use one for each server, as the port
// of a closed one may come again.
func HTTP2Client() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}

type connKey struct{}

// withConn is the server's ConnContext hook.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// abort breaks the connection: with a RST for [Reset], else with a FIN. On HTTP/2 it may break the stream only.
func (x *exchange) abort(ctx context.Context) {
	conn, ok := ctx.Value(connKey{}).(*frameConn)
	switch {
	case !ok:
	case x.http2 && x.rec.Status == 0:
		x.abortUnanswered(conn)
	case x.http2:
		x.abortFrame(ctx, conn)
	default:
		if _, _, err := x.rc.Hijack(); err == nil { // else the connection is broken already.
			conn.end(x.fault.kind == faultReset)
		}
	}
}

// abortUnanswered breaks a stream that has no headers yet.
func (x *exchange) abortUnanswered(conn *frameConn) {
	if x.fault.kind == faultResetStream || x.fault.kind == faultGoAway {
		conn.expectReset(x.fault)
	} else {
		conn.end(x.fault.kind == faultReset)
	}
	panic(http.ErrAbortHandler) // resets the stream, if there still is a connection.
}

// abortFrame has the stream or the connection broken behind the frames that were sent before.
func (x *exchange) abortFrame(ctx context.Context, conn *frameConn) {
	m, done := conn.expect(x.fault)
	if _, err := x.w.Write(m[:]); err == nil {
		_ = x.rc.Flush() // it fails if the client has already seen what breaks.
	}
	if x.fault.kind != faultResetStream {
		done = nil // the client leaves by itself; a RST_STREAM could hide from it what broke.
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	panic(http.ErrAbortHandler) // the stream is over: returning would send its end.
}

// awaitSent waits until the kernel has sent what was written, as a RST discards the rest: many small frames wait for the
// client's acknowledgements. It gives up on a client that does not read.
func awaitSent(tcp *net.TCPConn) {
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Second); unsent(tcp) > 0 && time.Now().Before(end); {
		<-tick.C
	}
}
