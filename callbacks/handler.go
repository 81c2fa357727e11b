package callbacks

import "context"

// Handler gets the events of all model calls of the model it was given to. Those of one call come one after the other,
// in order, from inside the consumer's Recv: the next chunk is not returned before Handle has. Those of different calls
// come concurrently. A Handle that panics is skipped; one that takes longer than a second is left behind and gets
// nothing more from that call.
type Handler interface {
	Handle(ctx context.Context, e Event)
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, e Event)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, e Event) { f(ctx, e) }
