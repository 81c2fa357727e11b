package callbacks

import (
	"context"
	"log/slog"
)

// Slog returns a handler that writes each event as one record to l: the message is the event's name; the level and the
// fields are those of the table in the package documentation, always in that order. A nil l means the logger that
// [slog.Default] returns when the event comes. The context of the model call goes along to l's handler. It is safe for
// concurrent use and holds nothing to close; an event whose level is off costs next to nothing. A log that blocks
// delays the stream, as any handler does.
func Slog(l *slog.Logger) Handler { return slogHandler{logger: l} }

type slogHandler struct{ logger *slog.Logger }

// Handle logs e.
func (h slogHandler) Handle(ctx context.Context, e Event) {
	l := h.logger
	if l == nil {
		l = slog.Default()
	}

	at := level(e)
	if !l.Enabled(ctx, at) {
		return
	}
	l.LogAttrs(ctx, at, e.Name(), record(e)...)
}

// level returns Error where the caller gets an error, Warn where somebody may have to look, Debug for what comes many
// times in one answer, and Info for the rest.
func level(e Event) slog.Level {
	switch e.(type) {
	case Exhausted:
		return slog.LevelError
	case Interrupted, Failed, OpenRetried, CheckpointFailed, BreakerChanged, HandlerStalled:
		return slog.LevelWarn
	case ToolCallProgress:
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}
