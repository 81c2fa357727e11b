package faultllm

import (
	"context"
	"net"
	"time"
)

// stream sends the events and breaks them where the fault says so.
func (x *exchange) stream(ctx context.Context, events []event) {
	x.head(x.enc.contentType())
	if !x.write(ctx, nil) {
		return
	}
	switch {
	case x.fault == None():
		x.send(ctx, events)
		return
	case x.fault.kind == faultNoFinish:
		x.hit()
		x.send(ctx, without(events, eventFinish))
		return
	}
	head, tail, reached := x.fault.at.place(events)
	if x.send(ctx, head) && reached {
		x.hit()
		x.breakAt(ctx, tail)
	}
}

// breakAt applies the fault in front of the events that are left.
func (x *exchange) breakAt(ctx context.Context, tail []event) {
	switch x.fault.kind {
	case faultReset, faultCut:
		x.abort()
	case faultCutLine:
		x.half(ctx, tail)
		x.abort()
	case faultCleanCutLine:
		x.half(ctx, tail)
	case faultMalformed:
		x.lose(ctx, tail, x.enc.malformed)
	case faultInBand:
		x.write(ctx, x.enc.failure(x.fault.errType, x.fault.body))
	case faultStall:
		x.hold(ctx)
	case faultHold:
		if x.hold(ctx) {
			x.send(ctx, tail)
		}
	case faultKeepAlives:
		if x.comments(ctx, x.fault.count) {
			x.send(ctx, tail)
		}
	case faultStallKeepingAlive:
		for x.comments(ctx, 1) {
			continue
		}
	case faultSlowDrip:
		x.send(ctx, tail)
	case faultCleanEnd, faultEmptyBody, faultNone, faultStatus, faultNoFinish: // the body ends here.
	}
}

// send sends events one by one. It reports false if the client left.
func (x *exchange) send(ctx context.Context, events []event) bool {
	for _, e := range events {
		if e.content() && !x.pause(ctx, x.server.cfg.Pace) {
			return false
		}
		if ctx.Err() != nil {
			x.gone(ctx)
			return false
		}
		frame := x.enc.frame(e)
		bill := e.tokens()
		x.update(func(r *Record) { r.Completion += bill })
		if !x.deliver(ctx, frame) {
			x.update(func(r *Record) { r.Lost += bill })
			return false
		}
	}
	return true
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
	_, err := x.w.Write(b)
	if err == nil {
		err = x.rc.Flush()
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
	bill := tail[0].tokens()
	x.update(func(r *Record) {
		r.Completion += bill
		r.Lost += bill
	})
	x.write(ctx, format(tail[0]))
}

// hold waits until the fault is released. It reports false if the client left before.
func (x *exchange) hold(ctx context.Context) bool {
	select {
	case <-x.fault.release: // a stall has no release: it blocks for ever.
		return true
	case <-ctx.Done():
		x.gone(ctx)
		return false
	}
}

func (x *exchange) comments(ctx context.Context, n int) bool {
	for range n {
		if !x.pause(ctx, x.fault.every) || !x.write(ctx, x.enc.keepAlive()) {
			return false
		}
	}
	return true
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

// abort breaks the connection: with a RST for [Reset], else with a FIN.
func (x *exchange) abort() {
	conn, _, err := x.rc.Hijack()
	if err != nil {
		return // the connection is broken already.
	}
	if tcp, ok := conn.(*net.TCPConn); ok && x.fault.kind == faultReset {
		awaitSent(tcp)
		_ = tcp.SetLinger(0) // if it fails the connection is broken already.
	}
	_ = conn.Close()
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

func without(events []event, kind eventKind) []event {
	var out []event
	for _, e := range events {
		if e.kind != kind {
			out = append(out, e)
		}
	}
	return out
}
