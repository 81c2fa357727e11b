package faultllm

import (
	"context"
	"strconv"
	"time"
)

// stream sends the events and breaks them where the fault says so.
func (x *exchange) stream(ctx context.Context, said []event) {
	if x.fault.kind == faultLength && !x.http2 {
		x.w.Header().Set("Content-Length", strconv.Itoa(x.fault.count))
	}
	x.head(x.enc.contentType())
	if !x.write(ctx, nil) {
		return
	}
	if x.fault.kind == faultNoFinish {
		x.hit()
		said = without(said, eventFinish)
	}
	if x.fault.lies() {
		x.hit()
		said = x.fault.untrue(said)
	}
	events := x.enc.events(said)
	switch {
	case x.fault.kind == faultNone || x.fault.kind == faultNoFinish || x.fault.lies():
		x.send(ctx, events)
		return
	case x.fault.at.kind == posBytes:
		x.streamBytes(ctx, events)
		return
	}
	head, tail, reached := x.fault.at.place(events)
	if x.send(ctx, x.fault.overOneIndex(head)) && reached {
		x.hit()
		x.breakAt(ctx, x.fault.overOneIndex(tail))
	}
}

// breakAt applies the fault in front of the events that are left.
func (x *exchange) breakAt(ctx context.Context, tail []event) {
	switch x.fault.kind {
	case faultReset, faultCut, faultResetStream, faultGoAway:
		x.abort(ctx)
	case faultCutLine:
		x.half(ctx, tail)
		x.abort(ctx)
	case faultCleanCutLine:
		x.half(ctx, tail)
	case faultMalformed:
		x.lose(ctx, tail, x.enc.malformed)
	case faultInBand:
		x.fail(ctx, tail)
	case faultInBandStall:
		x.fail(ctx, tail)
		x.hold(ctx)
	case faultStall:
		x.hold(ctx)
	case faultHold, faultPause, faultKeepAlives, faultComments, faultSlowDrip:
		if x.interlude(ctx) {
			x.send(ctx, tail)
		}
	case faultStallKeepingAlive:
		for x.keepAlive(ctx, 1) {
			continue
		}
	case faultCleanEnd, faultEmptyBody, faultNone, faultStatus, faultRefuse, faultNoFinish, faultLength, faultUsage,
		faultOneIndex: // the body ends here.
	}
}

// interlude is what comes before the rest of a stream that goes on. It reports false if the client left.
func (x *exchange) interlude(ctx context.Context) bool {
	switch x.fault.kind {
	case faultHold, faultPause:
		return x.hold(ctx)
	case faultKeepAlives, faultComments:
		return x.keepAlive(ctx, x.fault.count)
	default:
		return true
	}
}

// fail sends an error inside the stream.
func (x *exchange) fail(ctx context.Context, tail []event) {
	f := failure{form: x.fault.form.in(x.rec.Request.Vendor), errType: x.fault.errType, message: x.fault.body, text: " "}
	if f.form == FormFinishText || f.form == FormFinishNumeric {
		tail = without(tail, eventSignature)
		if len(tail) > 0 && tail[0].kind == eventText {
			f.text = tail[0].text
			x.bill(tail[0], false)
		}
	}
	x.write(ctx, x.enc.failure(f))
}

// send sends events one by one. It reports false if the client left.
func (x *exchange) send(ctx context.Context, events []event) bool {
	for _, e := range events {
		if !x.ready(ctx, e) {
			return false
		}
		frame := x.enc.frame(e)
		x.bill(e, false)
		if e.kind == eventFinish {
			x.keep()
		}
		if !x.deliver(ctx, frame) {
			x.update(func(r *Record) { r.Lost += e.tokens() })
			return false
		}
	}
	return true
}

// ready waits for the time of an event. It reports false if the client left.
func (x *exchange) ready(ctx context.Context, e event) bool {
	if e.content() && !x.pause(ctx, x.server.cfg.Pace) {
		return false
	}
	if ctx.Err() != nil {
		x.gone(ctx)
		return false
	}
	return true
}

// bill records that an event was generated.
func (x *exchange) bill(e event, lost bool) {
	n := e.tokens()
	x.update(func(r *Record) {
		r.Completion += n
		if lost {
			r.Lost += n
		}
	})
}

func (x *exchange) deliver(ctx context.Context, frame []byte) bool {
	if x.fault.kind != faultSlowDrip || !x.rec.FaultHit {
		return x.write(ctx, frame)
	}
	for i := range frame {
		if !x.pause(ctx, x.fault.every) || !x.write(ctx, frame[i:i+1]) {
			return false
		}
	}
	return true
}

// write sends bytes at once. It reports false if the client left.
func (x *exchange) write(ctx context.Context, b []byte) bool {
	over := x.fault.kind == faultLength && x.sent+len(b) > x.fault.count
	if over {
		b = b[:x.fault.count-x.sent]
	}
	n, err := x.w.Write(b)
	x.sent += n
	if err == nil {
		err = x.rc.Flush()
	}
	if over {
		return false // the client has what it was told to wait for.
	}
	if err != nil {
		x.gone(ctx)
	}
	return err == nil
}

// half sends the first half of the next frame.
func (x *exchange) half(ctx context.Context, tail []event) {
	x.lose(ctx, tail, func(e event) []byte {
		frame := x.enc.frame(e)
		return frame[:len(frame)/2]
	})
}

// lose generates the next event, but does not send it whole.
func (x *exchange) lose(ctx context.Context, tail []event, format func(event) []byte) {
	if len(tail) == 0 {
		return
	}
	x.bill(tail[0], true)
	x.write(ctx, format(tail[0]))
}

// hold waits until the fault is released. It reports false if the client left before.
func (x *exchange) hold(ctx context.Context) bool {
	if x.fault.kind == faultPause {
		return x.pause(ctx, x.fault.every)
	}
	select {
	case <-x.fault.release: // a stall has no release: it blocks for ever.
		return true
	case <-ctx.Done():
		x.gone(ctx)
		return false
	}
}

// keepAlive sends frames without meaning. It reports false if the client left.
func (x *exchange) keepAlive(ctx context.Context, n int) bool {
	frame := x.enc.keepAlive()
	if x.fault.kind == faultComments {
		frame = append([]byte(": keep-alive"), x.blank()...)
	}
	for range n {
		if !x.pause(ctx, x.fault.every) || !x.write(ctx, frame) {
			return false
		}
	}
	return true
}

// blank ends a frame of server-sent events, as the vendor does.
func (x *exchange) blank() []byte {
	if x.rec.Request.Vendor == Gemini {
		return []byte("\r\n\r\n")
	}
	return []byte("\n\n")
}

// pause waits. It reports false if the client left.
func (x *exchange) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		x.gone(ctx)
		return false
	}
}

func without(events []event, kind eventKind) []event {
	var out []event
	for _, e := range events {
		if e.kind != kind {
			out = append(out, e)
		}
	}
	return out
}
