package continuation

import (
	"context"
	"io"
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// agentic is the speech of models of *schema.AgenticMessage. Their chunks hold blocks of content. Each block goes through
// the core as a message of its own, the view of it, and comes out as the block it was, with the index that it has in the
// one logical message.
type agentic struct{ inner model.AgenticModel }

func (s agentic) open(ctx context.Context, r *request) (source, error) {
	reader, err := s.inner.Stream(ctx, r.agentic, r.opts...)
	if err != nil || reader == nil {
		return nil, err
	}

	return agenticSource{reader, new(views)}, nil
}

func (s agentic) base(asked *request, place hintPlace) *request {
	mended := repairAgentic(asked.agentic)
	told, hinted := withAgenticHint(mended, place)
	if !hinted && len(told) > 0 && &told[0] == &asked.agentic[0] {
		return asked
	}

	return &request{agentic: told, opts: asked.opts, hinted: hinted, rewrite: rewriteUnchanged}
}

func (s agentic) continued(base request, state snapshot.Snapshot, d Dialect, p profile, prompt string) *request {
	r := continueAgentic(base, state, d, p, prompt)

	return &r
}

func (s agentic) answers(r *request) int {
	n := 0
	for _, m := range r.agentic {
		if m != nil && m.Role == schema.AgenticRoleTypeAssistant {
			n++
		}
	}

	return n
}

func (s agentic) profile(typ string) profile { return agenticProfile(typ) }

func (s agentic) layout() *layout { return &layout{open: -1} }

// agenticRequest returns the caller's own request, whose slices the caller may use again.
func agenticRequest(in []*schema.AgenticMessage, opts []model.Option) *request {
	return &request{agentic: slices.Clone(in), opts: slices.Clone(opts), rewrite: rewriteUnchanged}
}

// agenticSource is a stream of agentic messages as a source.
type agenticSource struct {
	reader *schema.StreamReader[*schema.AgenticMessage]
	views  *views
}

func (s agenticSource) Recv() (chunk, error) {
	m, err := s.reader.Recv()
	if m == nil || err != nil {
		return chunk{}, err
	}

	return s.views.of(m), nil
}

func (s agenticSource) Close() { s.reader.Close() }

// nextAgentic is next for a consumer of agentic messages. What came as one chunk leaves as one, as far as it is ready.
func (c *call) nextAgentic() (*schema.AgenticMessage, error) {
	first, err := c.next()
	if err != nil {
		return nil, err
	}
	parts := []*origin{first.origin}
	c.mu.Lock()
	defer c.mu.Unlock()
	for of := first.origin.of; of != nil; {
		m, ok := c.out.peek()
		if !ok || m.origin.of != of {
			break
		}
		c.out.pop()
		parts = append(parts, m.origin)
	}

	m := assemble(parts)
	if c.run != nil {
		c.run.push(c.engine, chunk{origin: &origin{of: m}})
	}
	if len(parts) == 1 && c.whole == nil && c.probe == nil { // what is kept there may be looked at again
		first.origin.free()
	}

	return m, nil
}

// concatAgenticStream reads a stream to its end and returns the one message. It closes the reader.
func concatAgenticStream(r *schema.StreamReader[*schema.AgenticMessage]) (*schema.AgenticMessage, error) {
	defer r.Close()
	var chunks []*schema.AgenticMessage
	for {
		m, err := r.Recv()
		if same(err, io.EOF) {
			if len(chunks) == 1 { // Eino returns a single one as it is, with its places in a stream
				chunks = append(chunks, new(schema.AgenticMessage))
			}

			return schema.ConcatAgenticMessages(chunks)
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, m)
	}
}
