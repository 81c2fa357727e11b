package continuation

import "context"

type runIDKey struct{}

// ContextWithRunID names the run that the model calls made with the context belong to. Events carry it.
func ContextWithRunID(ctx context.Context, runID string) context.Context {
	return context.WithValue(ctx, runIDKey{}, runID)
}

func runIDFromContext(ctx context.Context) string {
	id, _ := ctx.Value(runIDKey{}).(string)

	return id
}
