package continuation_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func TestWhatTheWrappedModelSays(t *testing.T) {
	t.Parallel()
	for _, inner := range []*fm.Model{fm.New().TypeName("Acme"), fm.New().TypeName("Acme").CallbacksEnabled()} {
		m, _ := ctWrap(t, inner)
		assert.Equal(t, "Acme", m.GetType())
		assert.True(t, components.IsCallbacksEnabled(m), "it tells of its runs itself, whatever the model does")
	}
	m, _ := ctWrap(t, fm.New().Plain())
	assert.Empty(t, m.GetType())
	assert.True(t, components.IsCallbacksEnabled(m))
	m, _ = ctWrap(t, fm.New().TypeName("Acme"), continuation.WithIdentity("Other", "x"))
	assert.Equal(t, "Acme", m.GetType(), "the identity is for events and profiles")
}

func TestWithTools(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop")}, ctDone())
		m, events := ctWrap(t, inner, ctNow())
		bound, err := m.WithTools(ctTools())
		require.NoError(t, err)
		require.IsType(t, m, bound)
		r := ctStream(t.Context(), bound)
		require.NoError(t, r.err)
		assert.Equal(t, "Hello world.", r.text())
		ctOnly[callbacks.Completed](t, events)
		require.NoError(t, ctStream(t.Context(), m).err)
		requests := inner.Requests()
		assert.Len(t, requests[0].Options.Tools, 1)
		assert.Len(t, requests[1].Options.Tools, 1)
		assert.Empty(t, requests[2].Options.Tools, "the receiver is not changed")
		ctLetGo(t, inner)
	})
}

// ctNoTools is a model without WithTools, and one whose WithTools fails or lies.
type ctNoTools struct{ model.BaseChatModel }

type ctBadTools struct {
	model.BaseChatModel

	err error
}

func (m ctBadTools) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	return nil, m.err
}

func TestWithToolsThatAreNotThere(t *testing.T) {
	t.Parallel()
	inner := fm.New(ctDone())
	m, _ := ctWrap(t, ctNoTools{inner})
	bound, err := m.WithTools(ctTools())
	require.ErrorContains(t, err, "ctNoTools")
	assert.Nil(t, bound)
	require.NoError(t, ctStream(t.Context(), m, model.WithTools(ctTools())).err)
	assert.Len(t, inner.Requests()[0].Options.Tools, 1, "tools given as options go through")

	refusal := ctStatus(400)
	m, _ = ctWrap(t, ctBadTools{inner, refusal})
	_, err = m.WithTools(ctTools())
	require.ErrorIs(t, err, refusal)
	m, _ = ctWrap(t, ctBadTools{inner, nil})
	bound, err = m.WithTools(ctTools())
	require.Error(t, err)
	assert.Nil(t, bound)
}

func TestNestedDecoratorPassesThrough(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, model.BaseChatModel) error{
		"Stream": func(ctx context.Context, m model.BaseChatModel) error { return ctStream(ctx, m).err },
		"Generate": func(ctx context.Context, m model.BaseChatModel) error {
			_, err := m.Generate(ctx, ctInput())

			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(ctDone())
				below, belowEvents := ctWrap(t, inner)
				above, aboveEvents := ctWrap(t, below)
				require.NoError(t, call(t.Context(), above))
				assert.Equal(t, []callbacks.NoticeKind{callbacks.NoticeNested}, ctNotices(belowEvents))
				assert.Len(t, belowEvents.everything(), 1, "one event")
				assert.Empty(t, aboveEvents.list())
				ctEnd(t, aboveEvents)
			})
		})
	}
}

func TestNestedDecoratorDoesNotRecover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.OpenFail(ctStatus(503))}, fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop")})
		below, belowEvents := ctWrap(t, inner)
		above, aboveEvents := ctWrap(t, below, ctNow())
		r := ctStream(t.Context(), above)
		require.NoError(t, r.err)
		assert.Equal(t, "Hello world.", r.text())
		assert.Equal(t, 1, r.message(t).Extra[continuation.ExtraContinuations])
		assert.Len(t, inner.Requests(), 3)
		ctOnly[callbacks.OpenRetried](t, aboveEvents)
		ctOnly[callbacks.Completed](t, aboveEvents)
		for _, kind := range ctNotices(belowEvents) {
			assert.Equal(t, callbacks.NoticeNested, kind)
		}
		assert.Len(t, belowEvents.everything(), len(ctNotices(belowEvents)))
		ctLetGo(t, inner)
	})
}

func TestDecoratorBelowOneThatIsOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := ctBroken()
		below, events := ctWrap(t, inner)
		above, _ := ctWrap(t, below, continuation.WithMaxContinuations(0))
		r := ctStream(t.Context(), above)
		require.NoError(t, r.err)
		assert.Equal(t, "Hello world.", r.text())
		ctOnly[callbacks.Completed](t, events)
		ctLetGo(t, inner)
	})
}
