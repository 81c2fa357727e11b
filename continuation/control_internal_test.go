package continuation

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestControlKeepsContextErrorAndCause: clients return the cause of a context, its error, or either wrapped. Whatever an
// attempt ended with, the caller finds both.
func TestControlKeepsContextErrorAndCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, err := range []error{nil, cause, fmt.Errorf("read: %w", cause), context.Canceled, errors.New("connection closed"), errLeft} {
		end := control(ctx, false, err)
		require.ErrorIs(t, end, context.Canceled, "%v", err)
		require.ErrorIs(t, end, cause, "%v", err)
	}
	both := fmt.Errorf("read: %w: %w", context.Canceled, cause)
	assert.Equal(t, both, control(ctx, false, both), "untouched, if it says all")

	plain, cancelPlain := context.WithCancel(t.Context())
	cancelPlain()
	wrapped := fmt.Errorf("read: %w", context.Canceled)
	assert.Equal(t, wrapped, control(plain, false, wrapped), "untouched")
	assert.Equal(t, schema.ErrRecvAfterClosed, control(t.Context(), true, errors.New("connection closed")))
	require.NoError(t, control(t.Context(), false, context.Canceled))
	require.NoError(t, control(t.Context(), false, context.DeadlineExceeded))
	require.NoError(t, control(t.Context(), false, nil))
}
