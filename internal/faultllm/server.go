package faultllm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config says what a server answers and how. It must not be changed after [Start].
type Config struct {
	// Script is what is answered. Required.
	Script Script
	// Plan is what breaks. Nil: nothing.
	Plan Plan
	// Continuer is how faithfully partial answers are continued. Zero: honestly.
	Continuer Continuer
	// Rethink sends the reasoning again in continuations.
	Rethink bool
	// PieceSize cuts the scripted pieces further, to at most so many bytes (or one rune). Zero: pieces as scripted.
	PieceSize int
	// Pace is the time before each piece of a streamed answer. Zero: none.
	Pace time.Duration
	// Listener is what is listened on, in place of a free port of 127.0.0.1; see [Pipe]. The server closes it.
	Listener net.Listener
	// APIKey, if not empty, is the key that requests need, where the vendor's client puts it.
	APIKey string
	// RefusePrefill refuses requests that end in an assistant message, with status 400 and the vendor's text. Ollama has
	// no such refusal: it answers from the start.
	RefusePrefill bool
	// StrictAlternation refuses histories in which roles do not alternate: as the templates of Mistral's models do
	// (chat completions), "user" after "tool" too.
	StrictAlternation bool
}

// Server is a running provider. Its methods may be called by many goroutines.
type Server struct {
	cfg    Config
	rules  rules
	http   *http.Server
	url    string
	ledger *ledger
	conns  *conns
	stop   context.CancelCauseFunc
	served chan error
	once   sync.Once
	closed error
}

// errServerClosed is the cause with which requests end when the server is closed.
var errServerClosed = errors.New("faultllm: server closed")

// Start listens on a free port of 127.0.0.1, or on the configured listener, and serves until [Server.Close].
func Start(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	listener := cfg.Listener
	if listener == nil {
		var err error
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("faultllm: listen: %w", err)
		}
	}
	base, stop := context.WithCancelCause(context.Background())
	s := &Server{
		cfg: cfg, rules: cfg.rules(), url: "http://" + listener.Addr().String() + "/v1",
		ledger: newLedger(maxRecords, maxRecordBytes), conns: newConns(),
		stop: stop, served: make(chan error, 1),
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       withConn,
		ConnState:         s.conns.track,
		Protocols:         new(http.Protocols),
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ReadHeaderTimeout: time.Minute,
	}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetUnencryptedHTTP2(true)
	go func() { s.served <- s.http.Serve(frameListener{listener}) }()
	return s, nil
}

func (c Config) check() error {
	if c.PieceSize < 0 {
		return errors.New("faultllm: PieceSize is negative")
	}
	if c.Pace < 0 {
		return errors.New("faultllm: Pace is negative")
	}
	return c.Script.check()
}

func (c Config) rules() rules {
	return rules{
		strict: c.StrictAlternation, noPrefill: c.RefusePrefill, script: c.Script, stored: newResponseStore(maxRecords),
	}
}

// URL returns the base URL for a client of [OpenAI]: http://127.0.0.1:port/v1. For others see [Server.BaseURL].
func (s *Server) URL() string { return s.url }

// Ledger returns a copy of what was done so far.
func (s *Server) Ledger() Ledger { return s.ledger.snapshot() }

// Close breaks all connections, ends stalls, and waits for everything the server started. It may be called twice. The
// ledger can be read afterwards.
func (s *Server) Close() error {
	s.once.Do(func() {
		s.stop(errServerClosed)
		s.closed = s.http.Close()
		if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
			s.closed = errors.Join(s.closed, err)
		}
		_ = s.http.Close()          // takes the connections that were accepted during the first one.
		ctx := context.Background() // handlers end with their base context, so these waits are short.
		s.closed = errors.Join(s.closed, s.WaitIdle(ctx), s.WaitConnections(ctx, 0))
	})
	return s.closed
}
