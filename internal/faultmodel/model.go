package faultmodel

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// ErrScriptEnded is returned, wrapped, for a request that no script is left for.
var ErrScriptEnded = errors.New("faultmodel: no script left")

// Model is a scripted chat model, safe for concurrent use once configured. Its readers must be closed, once.
type Model struct {
	rec       *recorder
	cont      *continuer // nil unless made by Continuer
	tools     []*schema.ToolInfo
	typeName  string
	callbacks bool
	capacity  int
}

var (
	_ model.ToolCallingChatModel = (*Model)(nil)
	_ components.Typer           = (*Model)(nil)
	_ components.Checker         = (*Model)(nil)
)

// New returns a model that answers request n with script n, and any further one with ErrScriptEnded.
func New(scripts ...Script) *Model {
	return fromAnswerer(func(n int, _ []*schema.Message) (Script, error) {
		if n >= len(scripts) {
			return nil, fmt.Errorf("%w: request %d, scripts %d", ErrScriptEnded, n, len(scripts))
		}
		return scripts[n], nil
	})
}

// Respond returns a model that asks answer for the script of each request. n counts from 0; input is a deep copy and
// must not be changed. Calls of answer never overlap, and answer must not call the model.
func Respond(answer func(n int, input []*schema.Message) Script) *Model {
	return fromAnswerer(func(n int, input []*schema.Message) (Script, error) { return answer(n, input), nil })
}

func fromAnswerer(answer answerer) *Model {
	return &Model{rec: &recorder{answer: answer}, typeName: "FaultModel"}
}

// TypeName sets what GetType returns, by default "FaultModel", and returns m. Call it before the first request.
func (m *Model) TypeName(name string) *Model {
	m.typeName = name
	return m
}

// CallbacksEnabled makes IsCallbacksEnabled true and returns m. The model fires no callbacks in any case. Call it
// before the first request.
func (m *Model) CallbacksEnabled() *Model {
	m.callbacks = true
	return m
}

// Buffer sets how many chunks the script may run ahead of the reader and returns m; the default 0 makes what was
// sent equal to what was read. Call it before the first request.
func (m *Model) Buffer(chunks int) *Model {
	m.capacity = chunks
	return m
}

// Plain returns m as a model that has no WithTools, no type and no callbacks of its own. It shares m's record.
func (m *Model) Plain() model.BaseChatModel {
	return struct{ model.BaseChatModel }{m}
}

// GetType returns the provider type.
func (m *Model) GetType() string { return m.typeName }

// IsCallbacksEnabled says whether the model claims to fire callbacks itself.
func (m *Model) IsCallbacksEnabled() bool { return m.callbacks }

// WithTools returns a model with these tools bound. It shares m's scripts and record.
func (m *Model) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	bound := *m
	bound.tools = tools
	return &bound, nil
}

// Stream answers with the next script. The reader must be closed, once; its Recv may be called after that.
func (m *Model) Stream(
	ctx context.Context, input []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	return m.stream(ctx, &Request{Messages: clone(input), Options: m.options(opts), Raw: opts})
}

// Generate plays the next script to its end and returns its concatenation, or the script's error. A script with
// NilReader gives a nil message and no error.
func (m *Model) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	reader, err := m.stream(ctx, &Request{Messages: clone(input), Options: m.options(opts), Raw: opts, Generate: true})
	if err != nil || reader == nil {
		return nil, err
	}
	chunks, err := Collect(reader)
	if err != nil {
		return nil, err
	}
	return schema.ConcatMessages(chunks)
}

func (m *Model) options(opts []model.Option) model.Options {
	return clone(*model.GetCommonOptions(&model.Options{Tools: m.tools}, opts...))
}

func (m *Model) stream(ctx context.Context, r *Request) (*schema.StreamReader[*schema.Message], error) {
	script, err := m.rec.add(ctx, r)
	record := func(change func(*Request)) { m.rec.update(r, change) }
	context.AfterFunc(ctx, func() { record(func(*Request) {}) })
	if err == nil {
		err = open(ctx, script)
	}
	if err != nil {
		record(func(r *Request) { r.OpenErr = err })
		if errors.Is(err, errNilReader) {
			return nil, nil
		}
		return nil, err
	}
	return start(ctx, script, m.capacity, record), nil
}

// open does the opening steps.
func open(ctx context.Context, script Script) error {
	for _, step := range script {
		if step.open == nil {
			continue
		}
		if err := step.open(ctx); err != nil {
			return err
		}
	}
	return nil
}
