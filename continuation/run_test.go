package continuation_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// firing is a model that tells of its runs itself, as the clients of eino-ext do.
type firing struct{ *fm.Model }

func (firing) IsCallbacksEnabled() bool { return true }

func (m firing) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	ctx = einocallbacks.EnsureRunInfo(ctx, m.GetType(), components.ComponentOfChatModel)
	ctx = einocallbacks.OnStart(ctx, &model.CallbackInput{Messages: in})
	r, err := m.Model.Stream(ctx, in, opts...)
	if err != nil {
		einocallbacks.OnError(ctx, err)

		return nil, err
	}
	_, r = einocallbacks.OnEndWithStreamOutput(ctx, r)

	return r, nil
}

func runScripts() *fm.Model {
	return fm.New(
		fm.Script{fm.Text("Hello "), fm.Reset()},
		fm.Script{fm.Text("world."), fm.Usage(7, 3), fm.Finish("stop")},
	).TypeName("Acme")
}

func TestRunTree(t *testing.T) {
	t.Parallel()
	for name, inner := range map[string]model.BaseChatModel{
		"the wrapped model tells nothing":     runScripts(),
		"the wrapped model tells of its runs": firing{runScripts()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tree := &runTree{}
				m := continuation.Wrap(inner, ctNow())
				ctx := einocallbacks.InitCallbacks(t.Context(), &einocallbacks.RunInfo{
					Name: "node", Type: "Acme", Component: components.ComponentOfChatModel,
				}, tree.handler(true))
				r := ctStream(ctx, m)
				require.NoError(t, r.err)
				assert.Equal(t, []string{
					` > ChatModel/Acme/node: "Hello world." end`,
					`ChatModel/Acme/node > ContinuationAttempt/Acme/attempt-0: "Hello " error: ` + fm.ResetError().Error(),
					`ChatModel/Acme/node > ContinuationEvent/Acme/llm_stream_interrupted: "" end`,
					`ChatModel/Acme/node > ContinuationEvent/Acme/llm_stream_continuation_started: "" end`,
					`ChatModel/Acme/node > ContinuationAttempt/Acme/attempt-1: "world." end`,
					`ChatModel/Acme/node > ContinuationEvent/Acme/llm_stream_joined: "" end`,
					`ChatModel/Acme/node > ContinuationEvent/Acme/llm_stream_continuation_completed: "" end`,
				}, tree.rows(t))
			})
		})
	}
}

func runContext(t *testing.T, tree *runTree, read bool) context.Context {
	t.Helper()

	return einocallbacks.InitCallbacks(t.Context(), &einocallbacks.RunInfo{
		Name: "node", Type: "Acme", Component: components.ComponentOfChatModel,
	}, tree.handler(read))
}

// TestRunEnds: every run that begins ends, with what the caller gets.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	hi := []*schema.Message{schema.UserMessage("hi")}
	for name, tt := range map[string]struct {
		inner *fm.Model
		call  func(context.Context, *continuation.Model) error
		want  []string
	}{
		"Stream fails": {
			fm.New(fm.Script{fm.OpenFail(errors.New("no such model"))}).TypeName("Acme"),
			func(ctx context.Context, m *continuation.Model) error { return ctStream(ctx, m).err },
			[]string{"error: no such model", "error: no such model"},
		},
		"the reader is closed": {
			fm.New(fm.Script{fm.Text("Hello "), fm.Stall()}).TypeName("Acme"),
			func(ctx context.Context, m *continuation.Model) error {
				r, err := m.Stream(ctx, hi)
				require.NoError(t, err)
				_, err = r.Recv()
				require.NoError(t, err)
				r.Close()

				return schema.ErrRecvAfterClosed
			},
			[]string{"error: recv after stream closed", "error: recv after stream closed"},
		},
		"Generate": {
			fm.New(fm.Script{fm.Text("Hello."), fm.Finish("stop")}).TypeName("Acme"),
			func(ctx context.Context, m *continuation.Model) error {
				_, err := m.Generate(ctx, hi)

				return err
			},
			[]string{"end", "end"},
		},
		"Generate fails": {
			fm.New(fm.Script{fm.OpenFail(errors.New("no such model"))}).TypeName("Acme"),
			func(ctx context.Context, m *continuation.Model) error {
				_, err := m.Generate(ctx, hi)

				return err
			},
			[]string{"error: no such model", "error: no such model"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tree := &runTree{}
				_ = tt.call(runContext(t, tree, true), continuation.Wrap(tt.inner, ctNow()))
				synctest.Wait()
				tree.wg.Wait()
				ends := make([]string, len(tree.runs))
				for i, n := range tree.runs {
					ends[i] = n.end
				}
				assert.Equal(t, tt.want, ends)
			})
		})
	}
}

// TestRunThatNobodyReads: a handler that never closes its stream keeps no request alive. The bubble would not end if it
// left a goroutine.
func TestRunThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script fm.Script
		reads  int
	}{
		"and the reader is closed": {fm.Script{fm.Text("Hello "), fm.Stall()}, 1},
		"and the answer is read":   {fm.Script{fm.Text("Hello."), fm.Finish("stop")}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(tt.script)
				r, err := continuation.Wrap(inner).Stream(runContext(t, &runTree{}, false), []*schema.Message{schema.UserMessage("hi")})
				require.NoError(t, err)
				for range tt.reads {
					_, err = r.Recv()
				}
				assert.Equal(t, tt.reads == 3, errors.Is(err, io.EOF))
				r.Close()
				ctLetGo(t, inner)
			})
		})
	}
}

// TestRunOfANestedDecorator: the decorator below another one tells of the attempt's run if its model does not.
func TestRunOfANestedDecorator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tree := &runTree{}
		m := continuation.Wrap(continuation.Wrap(runScripts()), ctNow())
		require.NoError(t, ctStream(runContext(t, tree, true), m).err)
		attempts := 0
		for _, row := range tree.rows(t) {
			if strings.Contains(row, "ContinuationAttempt") {
				attempts++
			}
			assert.NotContains(t, row, "nil")
		}
		assert.Equal(t, 2, attempts)
	})
}

// TestRunPanics: a handler that panics when the stream begins leaves nothing behind.
func TestRunPanics(t *testing.T) {
	t.Parallel()
	for _, at := range []components.Component{components.ComponentOfChatModel, continuation.ComponentOfAttempt} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(fm.Script{fm.Text("Hello "), fm.Stall()})
				h := einocallbacks.NewHandlerBuilder().OnEndWithStreamOutputFn(
					func(ctx context.Context, i *einocallbacks.RunInfo, out *schema.StreamReader[einocallbacks.CallbackOutput]) context.Context {
						out.Close()
						if i.Component == at {
							panic("oops")
						}

						return ctx
					}).Build()
				ctx := einocallbacks.InitCallbacks(t.Context(), &einocallbacks.RunInfo{Component: components.ComponentOfChatModel}, h)
				stream := func() error {
					_, err := continuation.Wrap(inner).Stream(ctx, []*schema.Message{schema.UserMessage("hi")})

					return err
				}
				if at == components.ComponentOfChatModel {
					assert.PanicsWithValue(t, "oops", func() { _ = stream() }, "as without the decorator")
				} else {
					var p *continuation.PanicError
					require.ErrorAs(t, stream(), &p)
				}
				ctLetGo(t, inner)
			})
		})
	}
}
