package faultllm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxBody is the largest request that is read.
const maxBody = 32 << 20

// exchange is one request and its response.
type exchange struct {
	server *Server
	wire   wire
	rec    *Record
	w      http.ResponseWriter
	rc     *http.ResponseController
	enc    encoder
	fault  Fault
	http2  bool
	sent   int    // bytes of a streamed body
	store  func() // keeps what was said, when it comes to its end; nil: it is not to be kept
}

// handle serves one request.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	vendor, refused := route(r)
	x := &exchange{server: s, wire: vendor.wire(s.rules), w: w, http2: r.ProtoMajor == 2}
	x.rc = http.NewResponseController(w)
	if refused != nil {
		x.refuse(*refused)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		large := x.wire.problem(http.StatusRequestEntityTooLarge)
		large.message = err.Error()
		x.refuse(large)
		return
	}
	x.rec = s.ledger.arrive(r.Header.Clone(), body)
	defer s.ledger.end(x.rec)
	id := "X-Request-Id"
	if vendor == Anthropic {
		id = "Request-Id"
	}
	w.Header().Set(id, fmt.Sprintf("req-test-%06d", x.rec.N))
	if refused := x.serve(r, vendor, body); refused != nil {
		x.update(func(r *Record) { r.Status = refused.status })
		x.refuse(*refused)
	}
}

func (x *exchange) refuse(r refusal) {
	x.w.Header().Set("Content-Type", "application/json")
	if r.never {
		x.w.Header().Set("X-Should-Retry", "false")
	}
	x.w.WriteHeader(r.status)
	_, _ = io.WriteString(x.w, x.wire.refusalBody(r)) // a client that left needs no answer.
}

func (x *exchange) serve(r *http.Request, vendor Vendor, body []byte) *refusal {
	s := x.server
	if s.cfg.APIKey != "" && x.wire.key(r) != s.cfg.APIKey {
		return new(x.wire.problem(http.StatusUnauthorized))
	}
	req, refused := x.wire.read(r, body)
	req.Vendor = vendor
	x.update(func(r *Record) { r.Request, r.HTTP2 = req, x.http2 })
	if refused != nil {
		return refused
	}
	found, ok := s.cfg.Script.resolve(req.Messages)
	if !ok {
		none := x.wire.problem(http.StatusBadRequest)
		none.message = "the script has no answer to these messages"
		return &none
	}
	if n := len(req.Messages); req.anew && n > 0 && req.Messages[n-1].Role == roleAssistant {
		found.continued, found.partial = false, 0
	}
	x.plan(found)
	x.enc = x.wire.encoder(req, x.rec.N)
	said := x.generator(found).events()
	if vendor != Anthropic {
		said = without(said, eventRedacted)
	}
	if req.Stored {
		x.store = func() { s.rules.stored.put(responseID(x.rec.N), append(req.Messages, spoken(said))) }
	}
	x.answer(r.Context(), said)
	return nil
}

// plan completes the record and asks the plan for the fault.
func (x *exchange) plan(found resolution) {
	s := x.server
	name := s.cfg.Script[found.turn].Answer.Name
	s.ledger.attempt(x.rec, found.key)
	x.update(func(r *Record) {
		r.Turn, r.Name, r.Continued, r.From = found.turn, name, found.continued, x.start(found)
	})
	if s.cfg.Plan != nil {
		x.fault = s.cfg.Plan(Arrival{
			N: x.rec.N, Turn: found.turn, Name: name, Attempt: x.rec.Attempt,
			Continued: found.continued, Request: x.rec.Request,
		})
	}
	x.update(func(r *Record) { r.Fault = x.fault })
}

func (x *exchange) start(found resolution) int {
	if !found.continued {
		return 0
	}
	return x.server.cfg.Continuer.start(x.server.cfg.Script[found.turn].Answer.Text(), found.partial)
}

func (x *exchange) generator(found resolution) generator {
	cfg, req := x.server.cfg, x.rec.Request
	return generator{
		answer: cfg.Script[found.turn].Answer, continued: found.continued, start: x.rec.From,
		preamble: cfg.Continuer.preamble, rethink: cfg.Rethink, pieceSize: cfg.PieceSize,
		maxTokens: req.MaxTokens, prompt: PromptTokens(req), usage: req.Stream && req.IncludeUsage,
	}
}

func (x *exchange) answer(ctx context.Context, events []event) {
	switch {
	case x.fault.kind == faultStatus || x.fault.kind == faultRefuse:
		x.status()
	case x.fault.at.kind == posHeaders && x.beforeHeaders(ctx):
		return
	case !x.rec.Request.Stream:
		x.whole(ctx, events)
	default:
		x.stream(ctx, events)
	}
}

func (x *exchange) status() {
	f := x.fault
	if f.kind == faultRefuse {
		r := x.wire.problem(f.code)
		r.delay = f.retry.delay()
		f.body = x.wire.refusalBody(r)
	}
	x.hit()
	x.update(func(r *Record) { r.Status = f.code })
	f.retry.set(x.w.Header())
	if strings.HasPrefix(f.body, "{") {
		x.w.Header().Set("Content-Type", "application/json")
	}
	x.w.WriteHeader(f.code)
	_, _ = io.WriteString(x.w, f.body) // a client that left needs no answer.
}

// beforeHeaders applies a fault before the headers, and says whether the response ends with it. A fault that needs a
// body happens at its start instead.
func (x *exchange) beforeHeaders(ctx context.Context) bool {
	switch {
	case x.fault.breaks():
		x.hit()
		x.abort(ctx)
		return true
	case x.fault.waits():
		x.hit()
		if !x.hold(ctx) {
			return true
		}
		x.fault = None()
	}
	return false
}

// head sends the headers, which bills the prompt.
func (x *exchange) head(contentType string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(http.StatusOK)
	x.update(func(r *Record) { r.Status, r.Prompt = http.StatusOK, PromptTokens(r.Request) })
}

// whole sends a response that is not streamed. Faults that end a stream end it in the middle of its body, wherever
// their position is; the others do nothing.
func (x *exchange) whole(ctx context.Context, events []event) {
	doc := x.enc.whole(events)
	bill := events[len(events)-1].usage.completion
	if x.fault.waits() {
		x.hit()
		if !x.hold(ctx) {
			return
		}
	}
	sent, lost := doc, 0
	switch {
	case x.fault.kind == faultEmptyBody:
		sent, bill = nil, 0
	case x.fault.kind == faultMalformed || x.fault.breaks():
		sent, lost = doc[:len(doc)/2], bill
	}
	if x.fault.breaks() && !x.http2 {
		x.w.Header().Set("Content-Length", strconv.Itoa(len(doc)))
	}
	x.head("application/json")
	x.update(func(r *Record) {
		r.Completion, r.Lost, r.FaultHit = bill, lost, r.FaultHit || len(sent) < len(doc)
	})
	if len(sent) == len(doc) {
		x.keep()
	}
	_, err := x.w.Write(sent)
	if x.fault.breaks() && err == nil {
		_ = x.rc.Flush() // the connection is about to break anyway.
		x.abort(ctx)
	}
}

func (x *exchange) update(change func(*Record)) { x.server.ledger.update(x.rec, change) }

// keep stores the answer, of which the end is about to be sent.
func (x *exchange) keep() {
	if x.store != nil {
		x.store()
	}
}

func (x *exchange) hit() { x.update(func(r *Record) { r.FaultHit = true }) }

// breaks says whether the fault breaks the connection, or the stream of its own that it is on it.
func (f Fault) breaks() bool {
	return f.kind == faultReset || f.kind == faultCut || f.kind == faultCutLine || f.kind == faultResetStream ||
		f.kind == faultGoAway
}

// waits says whether the fault is a silence.
func (f Fault) waits() bool {
	return f.kind == faultStall || f.kind == faultHold || f.kind == faultPause
}

// gone records that the client left. If it was the server that was closed, it breaks the connection, as returning would
// end the body as if it were whole.
func (x *exchange) gone(ctx context.Context) {
	if errors.Is(context.Cause(ctx), errServerClosed) {
		if x.http2 {
			panic(http.ErrAbortHandler)
		}
		x.abort(ctx)
		return
	}
	x.update(func(r *Record) {
		if !r.Disconnected {
			r.Disconnected, r.DisconnectedAt = true, time.Now()
		}
	})
}
