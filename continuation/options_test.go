package continuation_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctBadOptions are all ways in which an option can be out of range, by its name.
func ctBadOptions() map[string][]continuation.Option {
	return map[string][]continuation.Option{
		"WithMaxContinuations":    {continuation.WithMaxContinuations(-1), continuation.WithMaxContinuations(math.MinInt)},
		"WithBackoff":             {continuation.WithBackoff(nil)},
		"WithOpenRetries":         {continuation.WithOpenRetries(-1)},
		"WithRetryAfterCap":       {continuation.WithRetryAfterCap(0), continuation.WithRetryAfterCap(-1)},
		"WithMaxElapsed":          {continuation.WithMaxElapsed(0), continuation.WithMaxElapsed(-time.Second)},
		"WithBudgetReset":         {continuation.WithBudgetReset(0), continuation.WithBudgetReset(-1)},
		"WithNoProgressLimit":     {continuation.WithNoProgressLimit(0), continuation.WithNoProgressLimit(-1)},
		"WithIdleTimeout":         {continuation.WithIdleTimeout(0), continuation.WithIdleTimeout(-1)},
		"WithFirstContentTimeout": {continuation.WithFirstContentTimeout(0), continuation.WithFirstContentTimeout(-1)},
		"WithClassifier":          {continuation.WithClassifier(nil)},
		"WithPrompt":              {continuation.WithPrompt(nil)},
		"WithHandler":             {continuation.WithHandler(nil)},
		"WithRunID":               {continuation.WithRunID(nil)},
		"WithCheckpoints":         {continuation.WithCheckpoints(nil), continuation.WithCheckpoints(memstore.New(), nil)},
		"FlushEvery": {
			continuation.WithCheckpoints(memstore.New(), continuation.FlushEvery(0, 1)),
			continuation.WithCheckpoints(memstore.New(), continuation.FlushEvery(1, 0)),
		},
		"StartTimeout":         {continuation.WithCheckpoints(memstore.New(), continuation.StartTimeout(0))},
		"MaxTakeovers":         {continuation.WithCheckpoints(memstore.New(), continuation.MaxTakeovers(0))},
		"WithMaxBufferedBytes": {continuation.WithMaxBufferedBytes(0), continuation.WithMaxBufferedBytes(-1)},
	}
}

// ctAnyValue are the options of which no value is out of range.
func ctAnyValue() []string {
	return []string{
		"WithFinishReasonRequired", "WithDialect", "WithPromptInEvents", "WithoutHint", "HintInToolResult", "WithIdentity",
		"WithoutPreambleFilter", "WithBilledUsage", "WithStreamingGenerate", "WithWholeOutput",
		"WithLiveToolCalls",
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	for name, opts := range ctBadOptions() {
		for _, opt := range opts {
			m, err := continuation.New(fm.New(), opt)
			require.Error(t, err, name)
			assert.Contains(t, err.Error(), name+":")
			assert.Nil(t, m)
			assert.Panics(t, func() { continuation.Wrap(fm.New(), opt) }, name)
		}
	}
}

// TestEveryOptionIsTested reads the source: a new option needs its place in one of the two tables.
func TestEveryOptionIsTested(t *testing.T) {
	t.Parallel()
	var decls []ast.Decl
	for _, file := range []string{"options.go", "checkpoint.go", "live.go"} {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		decls = append(decls, source.Decls...)
	}
	bad, found := ctBadOptions(), 0
	for _, d := range decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() || f.Recv != nil || f.Type.Results == nil {
			continue
		}
		if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); !ok || result.Name != "Option" {
			continue
		}
		found++
		if _, ok := bad[f.Name.Name]; !ok {
			assert.Contains(t, ctAnyValue(), f.Name.Name)
		}
	}
	assert.GreaterOrEqual(t, found, 20)
}

func TestAllBadOptionsAreNamed(t *testing.T) {
	t.Parallel()
	_, err := continuation.New(nil, continuation.WithOpenRetries(-1), nil, continuation.WithIdleTimeout(0), continuation.WithBackoff(nil))
	for _, want := range []string{"model to wrap is nil", "WithOpenRetries", "option 1 is nil", "WithIdleTimeout", "WithBackoff"} {
		assert.ErrorContains(t, err, want)
	}
	assert.Len(t, strings.Split(err.Error(), "\n"), 5, "and nothing else")
}

func TestOptionsAtTheirLeast(t *testing.T) {
	t.Parallel()
	_, err := continuation.New(fm.New(),
		continuation.WithMaxContinuations(0), continuation.WithOpenRetries(0), continuation.WithBudgetReset(1), continuation.WithNoProgressLimit(1),
		continuation.WithRetryAfterCap(1), continuation.WithMaxElapsed(1), continuation.WithIdleTimeout(1),
		continuation.WithFirstContentTimeout(1), continuation.WithMaxBufferedBytes(1), continuation.WithIdentity("", ""),
		continuation.WithDialect(continuation.Dialect{}), continuation.WithDialect(continuation.PrefillWith(nil)),
	)
	require.NoError(t, err)
}

func TestWrapReturnsTheDecoratedModel(t *testing.T) {
	t.Parallel()
	assert.NotPanics(t, func() {
		m := continuation.Wrap(fm.New())
		var _ model.ToolCallingChatModel = m
	})
	assert.Panics(t, func() { continuation.Wrap(nil) })
}

func TestZeroContinuationsIsTheWrappedModel(t *testing.T) {
	t.Parallel()
	failure := fm.ResetError()
	script := fm.Script{fm.Role(), fm.Call(0, "c1", "add", `{"a":`), fm.Text("Hello "), fm.Fail(failure)}
	for name, first := range map[string]fm.Script{"in Recv": script, "in Stream": {fm.OpenFail(failure)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := fm.New(first)
			m, events := ctWrap(t, inner, continuation.WithMaxContinuations(0))
			r := ctStream(t.Context(), m)
			assert.Same(t, failure, r.err)
			assert.Len(t, r.chunks, first.Chunks(), "the wrapped model's own chunks")
			assert.Empty(t, events.list())
			assert.Len(t, inner.Requests(), 1)

			_, err := m.Generate(t.Context(), ctInput())
			require.ErrorIs(t, err, fm.ErrScriptEnded)
			assert.Len(t, inner.Requests(), 2)
		})
	}
}
