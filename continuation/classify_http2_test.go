package continuation

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/callbacks"
)

// The frame types and flags of RFC 9113 that the tests send.
const (
	frameData      = 0x0
	frameHeaders   = 0x1
	frameReset     = 0x3
	frameSettings  = 0x4
	frameGoAway    = 0x7
	flagEndHeaders = 0x4
)

func frame(kind, flags byte, stream uint32, payload ...byte) string {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	head = append(head[1:], kind, flags)
	head = binary.BigEndian.AppendUint32(head, stream)

	return string(append(head, payload...))
}

func goAwayFrame(last, code uint32) string {
	payload := binary.BigEndian.AppendUint32(nil, last)

	return frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(payload, code)...)
}

// beginning is a response on stream 1: the headers (0x88 is ":status: 200") and some data.
func beginning() string {
	return frame(frameHeaders, flagEndHeaders, 1, 0x88) + frame(frameData, 0, 1, []byte("hello")...)
}

// afterHTTP2Request reads frames until a request begins, then sends text, and the end of the stream unless leaveOpen.
// It reads on until the client leaves: a close with unread bytes would reset the connection and overtake the text.
func afterHTTP2Request(text string, leaveOpen bool) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := io.CopyN(io.Discard, conn, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
			return
		}

		_, _ = io.WriteString(conn, frame(frameSettings, 0, 0))

		for {
			head := make([]byte, 9)
			if _, err := io.ReadFull(conn, head); err != nil {
				return
			}

			length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
			if _, err := io.CopyN(io.Discard, conn, length); err != nil {
				return
			}

			if head[3] == frameHeaders {
				break
			}
		}

		_, _ = io.WriteString(conn, text)

		if half, ok := conn.(interface{ CloseWrite() error }); ok && !leaveOpen {
			_ = half.CloseWrite()
		}

		_, _ = io.Copy(io.Discard, conn)
	}
}

// serveHTTP2 serves raw HTTP/2 and returns the URL and a client that trusts it.
func serveHTTP2(t *testing.T, answer func(net.Conn)) (string, *http.Client) {
	t.Helper()

	certified := quietServer(t, stall)
	certified.StartTLS()

	config := &tls.Config{
		Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	}
	url := serveOnce(t, tls.NewListener(listen(t), config), answer)

	pool := x509.NewCertPool()
	pool.AddCert(certified.Certificate())

	client := newClient(t, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})

	return "https" + strings.TrimPrefix(url, "http"), client
}

func TestErrorsOfHTTP2(t *testing.T) {
	t.Parallel()

	reset := transport(callbacks.CauseConnectionReset)
	goaway := transport(callbacks.CauseGoAway)

	tests := []struct {
		name      string
		text      string
		leaveOpen bool
		want      Class
	}{
		{"stream reset", beginning() + frame(frameReset, 0, 1, 0, 0, 0, 2), true, reset},
		{"stream reset with a code like a status", beginning() + frame(frameReset, 0, 1, 0, 0, 1, 0x91), true, reset},
		{"stream refused before headers", frame(frameReset, 0, 1, 0, 0, 0, 2), true, reset},
		{"goaway and close", beginning() + goAwayFrame(1, 0), false, goaway},
		{"goaway with an error and close", beginning() + goAwayFrame(1, 2), false, goaway},
		{"goaway that drops the stream", beginning() + goAwayFrame(0, 2), true, goaway},
		{"bad frame", beginning() + frame(frameData, 0, 0, 1), true, reset},
		{"connection closed", beginning(), false, bodyDecode(callbacks.CauseConnectionReset)},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			url, client := serveHTTP2(t, afterHTTP2Request(test.text, test.leaveOpen))

			err := fetch(t, client, url)
			if err == nil {
				t.Fatal("no error")
			}

			for _, err := range []error{err, fmt.Errorf("failed to receive: %w", err)} {
				if got := DefaultClassifier(err); got != test.want {
					t.Errorf("%T %v:\n got %+v\nwant %+v", err, err, got, test.want)
				}
			}
		})
	}
}

func TestErrorOfAbortedHTTP2Handler(t *testing.T) {
	t.Parallel()

	server := quietServer(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
		_ = http.NewResponseController(w).Flush()

		panic(http.ErrAbortHandler)
	})
	server.EnableHTTP2 = true
	server.StartTLS()

	err := fetch(t, server.Client(), server.URL)

	var stream http2StreamError
	if !errors.As(err, &stream) || stream.Code != 2 || stream.Error() == "" {
		t.Errorf("%T %v is no stream error of the known shape: %+v", err, err, stream)
	}

	for _, err := range []error{err, wordless{err}} {
		if got := DefaultClassifier(err); got != transport(callbacks.CauseConnectionReset) {
			t.Errorf("%v: got %+v", err, got)
		}
	}
}

// wordless hides the text of an error, but not its type.
type wordless struct{ err error }

func (wordless) Error() string   { return "boom" }
func (w wordless) Unwrap() error { return w.err }

type lookalikeGoAway struct {
	LastStreamID uint32
	ErrCode      uint32
	DebugData    string
}

func (lookalikeGoAway) Error() string { return "gone" }

func TestGoAwayByShape(t *testing.T) {
	t.Parallel()

	runClassTests(t, []classTest{{"shape", lookalikeGoAway{}, transport(callbacks.CauseGoAway)}})
}
