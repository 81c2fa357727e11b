package places_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
)

// tree records the runs that Eino's callback handlers see.
type tree struct {
	mu   sync.Mutex
	runs []*run
	wg   sync.WaitGroup
	odd  []string // what must not happen
}

// run is one run of a component.
type run struct {
	tree   *tree
	info   einocallbacks.RunInfo
	parent *run
	chunks []*schema.Message
	usage  *model.TokenUsage
	in     *continuation.CallbackInput
	out    *continuation.CallbackOutput
	ends   []string // "end" or "error: …"; one of them
}

// runKey finds a tree's current run in a context.
type runKey struct{ tree *tree }

func (n *run) name() string {
	if n == nil {
		return ""
	}

	return string(n.info.Component) + "/" + n.info.Name
}

// path is the names of the run and of those around it, from the outside.
func (n *run) path() string {
	if n.parent == nil {
		return n.name()
	}

	return n.parent.path() + " > " + n.name()
}

func (r *tree) start(ctx context.Context, i *einocallbacks.RunInfo, in any) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := &run{tree: r}
	n.parent, _ = ctx.Value(runKey{r}).(*run)
	if i == nil {
		r.odd = append(r.odd, "a run without a RunInfo below "+n.parent.name())
	} else {
		n.info = *i
	}
	n.in = continuation.ConvCallbackInput(in)
	r.runs = append(r.runs, n)

	return context.WithValue(ctx, runKey{r}, n)
}

// end closes the run in ctx.
func (r *tree) end(ctx context.Context, i *einocallbacks.RunInfo, how string) *run {
	n, _ := ctx.Value(runKey{r}).(*run)
	switch {
	case n == nil:
		r.odd = append(r.odd, "an end without a run")
		n = &run{tree: r}
	case i == nil || *i != n.info:
		r.odd = append(r.odd, fmt.Sprintf("the end of %v belongs to %s", i, n.path()))
	}
	if how != "" {
		n.ends = append(n.ends, how)
	}

	return n
}

func (n *run) take(out any) {
	if c := continuation.ConvCallbackOutput(out); c != nil {
		n.out = c

		return
	}
	if o := model.ConvCallbackOutput(out); o != nil && o.Message != nil {
		n.chunks = append(n.chunks, o.Message)
		if o.TokenUsage != nil {
			n.usage = o.TokenUsage
		}
	}
}

// handler returns what records; it reads all streams.
func (r *tree) handler() einocallbacks.Handler {
	return einocallbacks.NewHandlerBuilder().
		OnStartFn(func(ctx context.Context, i *einocallbacks.RunInfo, in einocallbacks.CallbackInput) context.Context {
			return r.start(ctx, i, in)
		}).
		OnStartWithStreamInputFn(func(ctx context.Context, i *einocallbacks.RunInfo, in *schema.StreamReader[einocallbacks.CallbackInput]) context.Context {
			in.Close()

			return r.start(ctx, i, nil)
		}).
		OnEndFn(func(ctx context.Context, i *einocallbacks.RunInfo, out einocallbacks.CallbackOutput) context.Context {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.end(ctx, i, "end").take(out)

			return ctx
		}).
		OnErrorFn(func(ctx context.Context, i *einocallbacks.RunInfo, err error) context.Context {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.end(ctx, i, "error: "+err.Error())

			return ctx
		}).
		OnEndWithStreamOutputFn(func(ctx context.Context, i *einocallbacks.RunInfo, out *schema.StreamReader[einocallbacks.CallbackOutput]) context.Context {
			r.mu.Lock()
			defer r.mu.Unlock()
			n := r.end(ctx, i, "")
			r.wg.Go(func() { n.read(out) })

			return ctx
		}).Build()
}

// read reads a run's stream to its end.
func (n *run) read(out *schema.StreamReader[einocallbacks.CallbackOutput]) {
	defer out.Close()
	for {
		o, err := out.Recv()
		n.tree.mu.Lock()
		switch {
		case err == nil:
			n.take(o)
		case errors.Is(err, io.EOF):
			n.ends = append(n.ends, "end")
		default:
			n.ends = append(n.ends, "error: "+err.Error())
		}
		n.tree.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text is what a run's chunks say.
func (n *run) text(t *testing.T) string {
	t.Helper()
	if len(n.chunks) == 0 {
		return ""
	}
	m, err := schema.ConcatMessages(n.chunks)
	require.NoError(t, err)

	return m.Content
}

// ours returns the runs of models, attempts and events as "path: text end", without what is around the outermost model's
// run, in the order of their beginning. It fails the test if anything is odd.
func (r *tree) ours(t *testing.T) []string {
	t.Helper()
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Empty(t, r.odd)
	var rows []string
	for _, n := range r.runs {
		assert.Len(t, n.ends, 1, "%s ends once", n.path())
		if !slices.Contains([]components.Component{
			components.ComponentOfChatModel, components.ComponentOfAgenticModel, continuation.ComponentOfAttempt, continuation.ComponentOfEvent,
		}, n.info.Component) {
			continue
		}
		path := n.path()
		if i := strings.Index(path, string(components.ComponentOfChatModel)); i > 0 {
			path = path[i:]
		}
		if n.info.Component == continuation.ComponentOfEvent {
			require.NotNil(t, n.in, path)
			require.NotNil(t, n.out, path)
			assert.Equal(t, n.info.Name, n.in.Event.Name())
			assert.Equal(t, n.in.Event, n.out.Event)
		}
		rows = append(rows, fmt.Sprintf("%s: %q %s", path, n.text(t), strings.Join(n.ends, " ")))
	}

	return rows
}

// tokens adds up what the runs of chat models report, as a meter does.
func (r *tree) tokens() (sum int) {
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.runs {
		if n.info.Component == components.ComponentOfChatModel && n.usage != nil {
			sum += n.usage.TotalTokens
		}
	}

	return sum
}

// chatModelRuns counts the runs of chat models.
func (r *tree) chatModelRuns() (sum int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.runs {
		if n.info.Component == components.ComponentOfChatModel {
			sum++
		}
	}

	return sum
}

// ended reports whether a run of that name has begun and ended.
func (r *tree) ended(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return slices.ContainsFunc(r.runs, func(n *run) bool { return n.info.Name == name && len(n.ends) > 0 })
}
