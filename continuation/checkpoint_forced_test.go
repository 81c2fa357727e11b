package continuation_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestBytesOfWhatIsWrittenAtOnce: whole tool calls and breaks are written whatever was written before. Where the store can add,
// that costs no more than the answer does: seconds apart behind a long text, or themselves most of it.
func TestBytesOfWhatIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	text := strings.Repeat("plain text.\n", size/16/12)
	for name, tt := range map[string]struct {
		texts, calls int
		arguments    string
	}{
		"calls behind a text":        {16, 40, `{"a":1}`},
		"calls that are long":        {0, 20, `{"a":"` + strings.Repeat("x", size/20) + `"}`},
		"many calls":                 {0, 400, `{"a":"` + strings.Repeat("x", size/400) + `"}`},
		"calls that close backwards": {16, -40, "1}"},
		"a text between calls":       {16, 16, `{"a":"` + strings.Repeat("\\n", size/64) + `"}`},
	} {
		for _, blocks := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", blocks: ", blocks), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var script fm.Script
					for range tt.texts {
						step := fm.Text(text)
						if blocks {
							step = fm.BlockText(0, text)
						}
						script = append(script, step, fm.Idle(time.Millisecond))
					}
					if tt.calls < 0 {
						script = append(script, ckBackwards(-tt.calls, blocks, tt.arguments)...)
					}
					for i := range max(tt.calls, 0) {
						step := fm.Call(i, fmt.Sprint("c", i), "f", tt.arguments)
						if blocks {
							step = fm.BlockCall(i+1, fmt.Sprint("c", i), "f", tt.arguments)
						}
						script = append(script, step, fm.Idle(2*time.Second))
					}
					store := &ckWeighing{Store: memstore.New()}
					ckRead(t, store, blocks, script)
					c, err := store.Get(t.Context(), "run-7")
					require.NoError(t, err)
					require.True(t, c.Done)
					calls := max(tt.calls, -tt.calls)
					require.Len(t, c.ToolCalls, calls)
					plain := len(c.Text) + calls*len(tt.arguments)
					assert.LessOrEqual(t, store.bytes.Load(), int64(3*plain), "in %d writes and %d that add", store.puts.Load(), store.appends.Load())
					assert.GreaterOrEqual(t, store.puts.Load()+store.appends.Load(), int64(calls), "each call is written when it is whole")
				})
			})
		}
	}
}

// ckBackwards are calls side by side of which the last is the first to be whole.
func ckBackwards(n int, blocks bool, end string) fm.Script {
	var script fm.Script
	step := func(i int, id, name, arguments string) {
		if blocks {
			script = append(script, fm.BlockCall(i+1, id, name, arguments))
		} else {
			script = append(script, fm.Call(i, id, name, arguments))
		}
	}
	for i := range n {
		step(i, fmt.Sprint("c", i), "f", `{"a":`)
	}
	for i := range n {
		step(n-1-i, "", "", end)
		script = append(script, fm.Idle(2*time.Second))
	}

	return script
}

// TestBytesOfThoughts: a thought is stored once, also where it is a block.
func TestBytesOfThoughts(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for kind, piece := range map[string]string{
		"plain": strings.Repeat("x", 1024), "JSON": strings.Repeat("\t\"key\": \"value\",\n", 64)[:1024], "escape codes": strings.Repeat("\x1b[0m\n", 205)[:1024],
	} {
		for _, blocks := range []bool{false, true} {
			for _, gap := range []time.Duration{time.Microsecond, 5 * time.Millisecond} {
				t.Run(fmt.Sprint(kind, ", blocks: ", blocks, ", ", gap), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var script fm.Script
						for n := 0; n < size; n += len(piece) {
							step := fm.Reasoning(piece)
							if blocks {
								step = fm.BlockThought(0, piece, "")
							}
							script = append(script, step, fm.Idle(gap))
						}
						if blocks {
							script = append(script, fm.BlockThought(0, "", "signed"), fm.BlockText(1, "The end."))
						} else {
							script = append(script, fm.Text("The end."))
						}
						store := &ckWeighing{Store: memstore.New()}
						ckRead(t, store, blocks, script)
						assert.LessOrEqual(t, store.bytes.Load(), int64(3*size), "in %d writes and %d that add", store.puts.Load(), store.appends.Load())
					})
				})
			}
		}
	}
}

// TestBytesOfBreaks: so do breaks, however many an answer has.
func TestBytesOfBreaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var answer fm.Script
		var text strings.Builder
		for i := range 1024 {
			line := fmt.Sprintf("Line %d %s\n", i, strings.Repeat("x", 1000))
			text.WriteString(line)
			answer = append(answer, fm.Text(line), fm.Idle(time.Millisecond))
		}
		var breaks []fm.Break
		for range 9 {
			breaks = append(breaks, fm.BreakAt(100, fm.Reset()))
		}
		store := &ckWeighing{Store: memstore.New()}
		m := continuation.Wrap(fm.Continuer(append(answer, fm.Finish("stop")), breaks...), ctNow(), continuation.WithMaxContinuations(20),
			continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
		require.NoError(t, ctStream(ckContext(t), m).err)
		c, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err)
		assert.Equal(t, text.String(), c.Text)
		assert.Equal(t, 9, c.Interruptions)
		assert.LessOrEqual(t, store.bytes.Load(), int64(3*text.Len()), "in %d writes and %d that add", store.puts.Load(), store.appends.Load())
	})
}

// TestBytesOfTextParts: so do the parts that a client sends its text in, each with something beside it.
func TestBytesOfTextParts(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("whole: ", whole), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const size = 1 << 20
				piece := strings.Repeat("x", 1024)
				var script fm.Script
				for n := 0; n < size; n += len(piece) {
					script = append(script, fm.Chunk(&schema.Message{Role: schema.Assistant, Content: piece, AssistantGenMultiContent: []schema.MessageOutputPart{
						{Type: schema.ChatMessagePartTypeText, Text: piece, Extra: map[string]any{"signature": fmt.Sprint("of ", n)}},
					}}), fm.Idle(time.Microsecond))
				}
				store := &ckWeighing{Store: memstore.New(), whole: whole}
				ckRead(t, store.store(), false, script)
				assert.LessOrEqual(t, store.bytes.Load(), int64(3*size), "in %d writes and %d that add", store.puts.Load(), store.appends.Load())
				c, err := store.Get(t.Context(), "run-7")
				require.NoError(t, err)
				assert.EqualValues(t, size/len(piece), c.Extra["carryon_parts"])
			})
		})
	}
}
