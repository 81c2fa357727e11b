package places_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// graphSignal is a way to take control of a graph that runs.
type graphSignal struct {
	name string
	opts []compose.GraphInterruptOption // of Eino's interrupt function
	late bool                           // the nodes that run are waited for
	ctx  func(context.Context) (context.Context, func())
	is   error
}

func graphSignals() []graphSignal {
	all := []graphSignal{
		{name: "interrupt", late: true},
		{name: "interrupt at once", opts: []compose.GraphInterruptOption{compose.WithGraphInterruptTimeout(0)}},
		{name: "interrupt soon", opts: []compose.GraphInterruptOption{compose.WithGraphInterruptTimeout(time.Millisecond)}},
	}
	for _, s := range signals() {
		if s.ctx != nil {
			all = append(all, graphSignal{name: s.name, ctx: s.ctx, is: s.is})
		}
	}

	return all
}

// graphWay is how a graph is run.
type graphWay struct {
	name     string
	opts     []continuation.Option
	streams  bool // the node of the model has ended when its stream is open
	generate bool // there are no continuations
}

func graphWays() []graphWay {
	return []graphWay{
		{name: "Stream", streams: true},
		{name: "Invoke", generate: true},
		{name: "Invoke that streams", opts: []continuation.Option{continuation.WithStreamingGenerate()}},
	}
}

// graphed is one cell of the table of control, for graphs: a model, and a node that does what it calls for.
type graphed[M adk.MessageType] struct {
	tongue[M]

	nested bool
	way    graphWay
	signal graphSignal
	moment moment
	store  adk.CheckPointStore

	lookout
	worker   worker
	reading  chan struct{} // closed when the node behind the model begins to read
	working  chan struct{} // closed when it has read the answer, if it is held there
	release  chan struct{} // ends what does not hear of the control
	returned chan struct{} // closed when the run is over; nil when it is resumed
}

func newGraphed[M adk.MessageType](l tongue[M], nested bool, w graphWay, s graphSignal, m moment, store adk.CheckPointStore) *graphed[M] {
	return &graphed[M]{
		tongue: l, nested: nested, way: w, signal: s, moment: m, store: store,
		lookout: newLookout(), reading: make(chan struct{}), working: make(chan struct{}), release: make(chan struct{}),
	}
}

func (c *graphed[M]) backoff(int) time.Duration {
	if c.moment.waiting && !c.goesOn() {
		return time.Hour
	}

	return 0
}

// goesOn reports whether the answer is read to its end: by the node behind the model, which is waited for, or into the
// checkpoint, which holds what that node was given.
func (c *graphed[M]) goesOn() bool {
	return c.signal.late || c.signal.ctx == nil && c.way.streams && !c.moment.opening
}

// work is the node behind the model.
func (c *graphed[M]) work(ctx context.Context, r *schema.StreamReader[M]) (m M, err error) {
	if c.returned != nil {
		close(c.reading)
	}
	chunks, err := fm.CollectAny(r)
	if err != nil {
		return m, err
	}
	if m = chunks[0]; len(chunks) > 1 {
		m = c.concat(&testing.T{}, chunks)
	}
	if c.returned != nil && c.moment.between {
		close(c.working)
		<-c.release
	}
	if c.returned != nil && !c.signal.late {
		<-c.returned // the graph has left this node behind; what looks at its context does nothing more
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
	}
	c.worker.mu.Lock()
	defer c.worker.mu.Unlock()
	c.worker.runs = append(c.worker.runs, c.words(m))

	return m, nil
}

// run runs the graph, or goes on from the checkpoint.
func (c *graphed[M]) run(ctx context.Context, t *testing.T, inner *fm.Model) (M, error) {
	t.Helper()
	var none M
	opts := append([]continuation.Option{continuation.WithBackoff(c.backoff), c.handler()}, c.way.opts...)
	chat, err := continuation.NewTyped(c.model(inner), opts...)
	require.NoError(t, err)
	g := compose.NewGraph[[]M, M]()
	if c.nested {
		below := compose.NewGraph[[]M, M]()
		addModel(t, below, chat)
		require.NoError(t, below.AddEdge("chat", compose.END))
		require.NoError(t, g.AddGraphNode("chat", below))
		require.NoError(t, g.AddEdge(compose.START, "chat"))
	} else {
		addModel(t, g, chat)
	}
	require.NoError(t, g.AddLambdaNode("work", compose.CollectableLambda(c.work)))
	require.NoError(t, g.AddEdge("chat", "work"))
	require.NoError(t, g.AddLambdaNode("say", compose.InvokableLambda(func(_ context.Context, m M) (M, error) { return m, nil })))
	require.NoError(t, g.AddEdge("work", "say"))
	require.NoError(t, g.AddEdge("say", compose.END))
	r, err := g.Compile(ctx, compose.WithCheckPointStore(c.store))
	require.NoError(t, err)
	if !c.way.streams {
		return r.Invoke(ctx, []M{c.user("hi")}, compose.WithCheckPointID("1"))
	}
	reader, err := r.Stream(ctx, []M{c.user("hi")}, compose.WithCheckPointID("1"))
	if err != nil {
		return none, err
	}
	chunks, err := fm.CollectAny(reader)

	return c.concat(t, chunks), err
}

func addModel[M adk.MessageType, O any](t *testing.T, g *compose.Graph[[]M, O], m model.BaseModel[M]) {
	t.Helper()
	switch m := m.(type) {
	case model.BaseChatModel:
		require.NoError(t, g.AddChatModelNode("chat", m, compose.WithNodeName("model")))
	case model.AgenticModel:
		require.NoError(t, g.AddAgenticModelNode("chat", m, compose.WithNodeName("model")))
	}
	require.NoError(t, g.AddEdge(compose.START, "chat"))
}

// interrupt runs the graph until the user takes control.
func (c *graphed[M]) interrupt(t *testing.T) (runs []string, inTime bool) {
	t.Helper()
	c.returned = make(chan struct{})
	open, silence := fm.OpenStall(), fm.Stall()
	if c.goesOn() {
		open, silence = fm.OpenStallIgnoringContext(c.release), fm.StallIgnoringContext(c.release)
	}
	inner := fm.New(c.moment.scripts(c.steps, open, silence)...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ctx, interrupt := compose.WithGraphInterrupt(ctx)
	strike := func() { interrupt(c.signal.opts...) }
	if c.signal.ctx != nil {
		ctx, strike = c.signal.ctx(ctx)
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.run(ctx, t, inner)
		done <- err
	}()
	if c.way.streams && !c.moment.opening {
		<-c.reading // the model's node has ended
	}
	c.await(t, inner, c.moment, c.working)

	requests := len(inner.Requests())
	strike()
	if c.goesOn() || c.moment.between && c.signal.ctx != nil {
		close(c.release)
		if c.signal.ctx != nil {
			close(c.returned)
		}
	}
	var err error
	select {
	case err = <-done:
	case <-time.After(patience):
		require.Fail(t, "the run does not end")
	}
	stop() // Eino tells no node that it is left behind: the program does
	c.letGo()
	c.calledOff(t)
	letGo(t, inner)
	if !c.goesOn() {
		assertRequests(t, inner, requests)
	}
	if c.signal.ctx != nil {
		require.True(t, errors.Is(err, c.signal.is) || c.moment.between && errors.Is(err, ctx.Err()), "%v", err)
	} else {
		_, ok := compose.ExtractInterruptInfo(err)
		require.True(t, ok, "%v", err)
	}

	return c.worker.did(), true
}

// letGo ends what has been left behind.
func (c *graphed[M]) letGo() {
	for _, end := range []chan struct{}{c.returned, c.release} {
		select {
		case <-end:
		default:
			close(end)
		}
	}
}

// resume goes on from the checkpoint, in another graph whose model does not break.
func (c *graphed[M]) resume(t *testing.T, before ...string) {
	t.Helper()
	if c.signal.ctx != nil {
		return
	}
	whole := fm.Script{c.text("Let me look."), c.call("c1", "look", `{"what":"here"}`), c.finish("tool_calls")}
	inner := fm.New(whole)
	answer, err := c.run(t.Context(), t, inner)
	require.NoError(t, err)
	want := `Let me look.[look {"what":"here"}]`
	assert.Equal(t, want, c.words(answer))
	assert.Equal(t, []string{want}, append(before, c.worker.did()...), "nothing is done twice")
	asked := 1
	if c.goesOn() || c.moment.between {
		asked = 0 // the answer is in the checkpoint
	}
	if c.nested && c.signal.late {
		// Eino gives the signal to one of the two graphs, and the other takes it for one that does not wait: the answer may
		// be left behind for all that.
		asked = len(inner.Requests())
	}
	assert.LessOrEqual(t, asked, 1)
	assertRequests(t, inner, asked)
	letGo(t, inner)
}
