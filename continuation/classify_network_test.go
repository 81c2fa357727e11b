package continuation

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"

// serveOnce answers every request on a loopback address with answer, which gets the connection after the request was
// read, and returns the URL.
func serveOnce(t *testing.T, listener net.Listener, answer func(net.Conn)) string {
	t.Helper()

	done := make(chan struct{})

	go func() {
		defer close(done)

		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}

			answer(conn)
			_ = conn.Close()
		}
	}()

	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})

	return "http://" + listener.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	return listener
}

// afterRequest reads one HTTP/1 request before it answers.
func afterRequest(answer func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			answer(conn)
		}
	}
}

func send(text string) func(net.Conn) {
	return afterRequest(func(conn net.Conn) { _, _ = io.WriteString(conn, text) })
}

// fetch returns the error of a whole request: of Do or of reading the body.
func fetch(t *testing.T, client *http.Client, url string) error {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}

	response, err := client.Do(request)
	if err != nil {
		return err
	}

	defer func() { _ = response.Body.Close() }()

	_, err = io.ReadAll(response.Body)

	return err
}

func newClient(t *testing.T, config *tls.Config) *http.Client {
	t.Helper()

	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)

	return &http.Client{Transport: transport}
}

func TestErrorsOfHTTP1(t *testing.T) {
	t.Parallel()

	reset := transport(callbacks.CauseConnectionReset)
	cut := bodyDecode(callbacks.CauseConnectionReset)
	body := bodyDecode(callbacks.CauseMalformedFrame)

	tests := []struct {
		name   string
		answer func(net.Conn)
		want   Class
	}{
		{"reset in the body", afterRequest(func(conn net.Conn) {
			_, _ = io.WriteString(conn, chunkedHead)
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}), reset},
		{"chunked body cut", send(chunkedHead), cut},
		{"chunk cut", send(chunkedHead + "9\r\nhel"), cut},
		{"shorter than its length", send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), cut},
		{"closed before headers", send(""), reset},
		{"closed in the headers", send("HTTP/1.1 200 OK\r\nContent-Le"), reset},
		{"bad chunk length", send(chunkedHead + "xyz\r\nhello\r\n"), body},
		{"chunk too long", send(chunkedHead + "5\r\nhello, world\r\n"), body},
		{"no HTTP", send("220 mail.example.com\r\n\r\n"), body},
		{"bad compression", send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot a gzip!!"), body},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			url := serveOnce(t, listen(t), test.answer)

			err := fetch(t, newClient(t, nil), url)
			if err == nil {
				t.Fatal("no error")
			}

			if got := DefaultClassifier(err); got != test.want {
				t.Errorf("%T %v:\n got %+v\nwant %+v", err, err, got, test.want)
			}
		})
	}
}

func TestErrorOfRefusedConnection(t *testing.T) {
	t.Parallel()

	listener := listen(t)
	url := "http://" + listener.Addr().String()
	_ = listener.Close()

	err := fetch(t, newClient(t, nil), url)
	if got := DefaultClassifier(err); got != transport(callbacks.CauseConnectionReset) {
		t.Errorf("%v: got %+v", err, got)
	}
}

// quietServer does not log the faults that it is made to commit.
func quietServer(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()

	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(server.Close)

	return server
}

// stall sends the headers and a beginning, and then nothing until the client has gone.
func stall(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "hello")
	_ = http.NewResponseController(w).Flush()

	<-r.Context().Done()
}

func TestErrorsOfTimeLimits(t *testing.T) {
	t.Parallel()

	server := quietServer(t, stall)
	server.Start()

	silent := quietServer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	silent.Start()

	limited := newClient(t, nil)
	limited.Timeout = 50 * time.Millisecond

	headers := newClient(t, nil)
	headers.Transport = &http.Transport{ResponseHeaderTimeout: 50 * time.Millisecond}

	for name, err := range map[string]error{
		"in the body":    fetch(t, limited, server.URL),
		"before headers": fetch(t, limited, silent.URL),
		"for headers":    fetch(t, headers, silent.URL),
	} {
		if got := DefaultClassifier(err); got != transport(callbacks.CauseTimeout) {
			t.Errorf("%s: %T %v: got %+v", name, err, err, got)
		}
	}
}

func TestErrorOfClientThatCancels(t *testing.T) {
	t.Parallel()

	server := quietServer(t, stall)
	server.Start()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}

	response, err := newClient(t, nil).Do(request)
	if err != nil {
		t.Fatal(err)
	}

	defer func() { _ = response.Body.Close() }()

	cancel()

	_, err = io.ReadAll(response.Body)
	if got := DefaultClassifier(err); !errors.Is(err, context.Canceled) || got.Kind != Transient {
		t.Errorf("%v: got %+v", err, got)
	}
}

func TestErrorsOfTLS(t *testing.T) {
	t.Parallel()

	secure := quietServer(t, stall)
	secure.StartTLS()

	err := fetch(t, newClient(t, nil), secure.URL)
	if got := DefaultClassifier(err); got.Kind != Unauthorized || !got.Permanent() {
		t.Errorf("%v: got %+v", err, got)
	}

	trusting := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12, ServerName: "other.test"}
	trusting.RootCAs.AddCert(secure.Certificate())

	err = fetch(t, newClient(t, trusting), secure.URL)
	if got := DefaultClassifier(err); got.Kind != Unauthorized {
		t.Errorf("%v: got %+v", err, got)
	}

	plain := quietServer(t, stall)
	plain.Start()

	err = fetch(t, newClient(t, nil), "https://"+plain.Listener.Addr().String())
	if got := DefaultClassifier(err); got.Kind != InvalidRequest {
		t.Errorf("%v: got %+v", err, got)
	}

	noTLS := serveOnce(t, listen(t), func(conn net.Conn) { _, _ = io.WriteString(conn, "220 mail.example.com\r\n") })

	err = fetch(t, newClient(t, nil), "https"+noTLS[len("http"):])
	if got := DefaultClassifier(err); got != transport(callbacks.CauseConnectionReset) {
		t.Errorf("%T %v: got %+v", err, err, got)
	}
}
