package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// runTree records the runs that Eino's callback handlers see, as a tree.
type runTree struct {
	mu   sync.Mutex
	runs []*runNode
	wg   sync.WaitGroup
}

type runNode struct {
	parent string
	name   string // component/type/name
	chunks []*schema.Message
	usage  *model.TokenUsage
	end    string // "", "end", "error: …"
}

type runKey struct{}

func (r *runTree) handler(read bool) einocallbacks.Handler {
	name := func(i *einocallbacks.RunInfo) string {
		if i == nil {
			return "nil"
		}

		return fmt.Sprintf("%s/%s/%s", i.Component, i.Type, i.Name)
	}
	node := func(ctx context.Context) *runNode {
		n, _ := ctx.Value(runKey{}).(*runNode)

		return n
	}

	return einocallbacks.NewHandlerBuilder().
		OnStartFn(func(ctx context.Context, i *einocallbacks.RunInfo, _ einocallbacks.CallbackInput) context.Context {
			n := &runNode{name: name(i)}
			if p := node(ctx); p != nil {
				n.parent = p.name
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.runs = append(r.runs, n)

			return context.WithValue(ctx, runKey{}, n)
		}).
		OnEndFn(func(ctx context.Context, _ *einocallbacks.RunInfo, out einocallbacks.CallbackOutput) context.Context {
			n := node(ctx)
			r.mu.Lock()
			defer r.mu.Unlock()
			n.end += "end"
			if o := model.ConvCallbackOutput(out); o != nil {
				n.chunks, n.usage = append(n.chunks, o.Message), o.TokenUsage
			}

			return ctx
		}).
		OnErrorFn(func(ctx context.Context, _ *einocallbacks.RunInfo, err error) context.Context {
			r.mu.Lock()
			defer r.mu.Unlock()
			node(ctx).end += "error: " + err.Error()

			return ctx
		}).
		OnEndWithStreamOutputFn(func(ctx context.Context, _ *einocallbacks.RunInfo, out *schema.StreamReader[einocallbacks.CallbackOutput]) context.Context {
			n := node(ctx)
			if !read {
				return ctx // and never closes it
			}
			r.wg.Go(func() {
				defer out.Close()
				for {
					o, err := out.Recv()
					r.mu.Lock()
					switch {
					case err == nil:
						m := model.ConvCallbackOutput(o)
						n.chunks = append(n.chunks, m.Message)
						if m.TokenUsage != nil {
							n.usage = m.TokenUsage
						}
					case errors.Is(err, io.EOF):
						n.end += "end"
					default:
						n.end += "error: " + err.Error()
					}
					r.mu.Unlock()
					if err != nil {
						return
					}
				}
			})

			return ctx
		}).Build()
}

// rows returns the runs in the order of their beginning, as "parent > run: text, end".
func (r *runTree) rows(t *testing.T) []string {
	t.Helper()
	r.wg.Wait()
	rows := make([]string, len(r.runs))
	for i, n := range r.runs {
		text := ""
		if len(n.chunks) > 0 {
			m, err := schema.ConcatMessages(n.chunks)
			require.NoError(t, err)
			text = m.Content
		}
		rows[i] = fmt.Sprintf("%s > %s: %q %s", n.parent, n.name, text, n.end)
	}

	return rows
}
