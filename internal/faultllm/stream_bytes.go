package faultllm

import "context"

// streamBytes sends the events and breaks them behind a number of bytes.
func (x *exchange) streamBytes(ctx context.Context, events []event) {
	switch x.fault.kind {
	case faultCutLine:
		x.fault.kind = faultCut
	case faultCleanCutLine:
		x.fault.kind = faultCleanEnd
	default:
	}
	left := x.fault.at.n
	for i, e := range events {
		if !x.ready(ctx, e) {
			return
		}
		frame := x.enc.frame(e)
		if left < len(frame) {
			x.breakFrame(ctx, e, frame, left, events[i+1:])
			return
		}
		left -= len(frame)
		x.bill(e, false)
		if e.kind == eventFinish {
			x.keep()
		}
		if !x.write(ctx, frame) {
			x.update(func(r *Record) { r.Lost += e.tokens() })
			return
		}
	}
	if left == 0 {
		x.hit()
		x.breakAt(ctx, nil)
	}
}

// breakFrame applies the fault behind n bytes of a frame; tail is what would come behind it.
func (x *exchange) breakFrame(ctx context.Context, e event, frame []byte, n int, tail []event) {
	if n == 0 {
		x.hit()
		x.breakAt(ctx, append([]event{e}, tail...))
		return
	}
	switch x.fault.kind {
	case faultInBand, faultInBandStall, faultKeepAlives, faultComments, faultStallKeepingAlive:
		x.bill(e, false)
		if x.write(ctx, frame) {
			x.hit()
			x.breakAt(ctx, tail)
		}
		return
	case faultHold, faultPause, faultSlowDrip:
		x.resume(ctx, e, frame, n, tail)
		return
	default: // the rest of the frame is lost.
	}
	x.bill(e, true)
	if !x.write(ctx, frame[:n]) {
		return
	}
	x.hit()
	if x.fault.kind == faultMalformed {
		x.write(ctx, x.blank())
		return
	}
	x.breakAt(ctx, nil)
}

// resume sends n bytes of a frame, and the rest once the fault lets it.
func (x *exchange) resume(ctx context.Context, e event, frame []byte, n int, tail []event) {
	x.bill(e, false)
	whole := x.write(ctx, frame[:n])
	x.hit()
	if whole && x.fault.kind != faultSlowDrip {
		whole = x.hold(ctx)
	}
	if !whole || !x.deliver(ctx, frame[n:]) {
		x.update(func(r *Record) { r.Lost += e.tokens() })
		return
	}
	x.send(ctx, tail)
}
