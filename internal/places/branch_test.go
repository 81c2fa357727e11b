package places_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestComposeBranch: a branch that reads the stream decides on the recovered one, on its first chunk as well as on its
// last word.
func TestComposeBranch(t *testing.T) {
	t.Parallel()
	decide := map[string]func(*schema.StreamReader[*schema.Message]) (bool, error){
		"on the first chunk": func(r *schema.StreamReader[*schema.Message]) (bool, error) {
			m, err := r.Recv()
			if err != nil {
				return false, err
			}

			return m.Content == "Hello ", nil
		},
		"on the whole answer": func(r *schema.StreamReader[*schema.Message]) (bool, error) {
			all := ""
			for {
				m, err := r.Recv()
				if errors.Is(err, io.EOF) {
					return all == "Hello world.", nil
				}
				if err != nil {
					return false, err
				}
				all += m.Content
			}
		},
	}
	for _, name := range slices.Sorted(maps.Keys(decide)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := broken()
			g := compose.NewGraph[[]*schema.Message, *schema.Message]()
			require.NoError(t, g.AddChatModelNode("m", continuation.Wrap(inner, now())))
			for _, end := range []string{"right", "wrong"} {
				require.NoError(t, g.AddLambdaNode(end, compose.TransformableLambda(
					func(_ context.Context, in *schema.StreamReader[*schema.Message]) (*schema.StreamReader[*schema.Message], error) {
						return schema.StreamReaderWithConvert(in, func(m *schema.Message) (*schema.Message, error) {
							c := *m
							c.Name = end

							return &c, nil
						}), nil
					})))
				require.NoError(t, g.AddEdge(end, compose.END))
			}
			require.NoError(t, g.AddEdge(compose.START, "m"))
			require.NoError(t, g.AddBranch("m", compose.NewStreamGraphBranch(
				func(_ context.Context, in *schema.StreamReader[*schema.Message]) (string, error) {
					defer in.Close()
					right, err := decide[name](in)
					if err != nil || !right {
						return "wrong", err
					}

					return "right", nil
				}, map[string]bool{"right": true, "wrong": true})))
			reader, err := compile(t, g).Stream(t.Context(), hi())
			require.NoError(t, err)
			chunks, err := fm.Collect(reader)
			require.NoError(t, err)
			got := fm.Concat(t, chunks)
			assert.Equal(t, "Hello world.", got.Content)
			assert.Equal(t, "right", got.Name)
			letGo(t, inner)
		})
	}
}
