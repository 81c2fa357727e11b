//go:build unix

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// journal is a handler of the agent that keeps its conversation: before each request, so that the next process begins
// with the same one, and at the end before the answer's checkpoint goes, so that there is no moment at which neither has
// the answer. Therefore it stands before carryon's middleware in Handlers.
type journal struct {
	*adk.BaseChatModelAgentMiddleware
	of *child
}

func newJournal(c *child) journal { return journal{&adk.BaseChatModelAgentMiddleware{}, c} }

func (j journal) BeforeModelRewriteState(
	ctx context.Context, s *adk.ChatModelAgentState, _ *adk.ModelContext,
) (context.Context, *adk.ChatModelAgentState, error) {
	err := j.of.write(s.Messages)
	j.of.said.say(line{Kind: saidAsks, Size: len(s.Messages)})

	return ctx, s, err
}

func (j journal) AfterAgent(ctx context.Context, s *adk.ChatModelAgentState) (context.Context, error) {
	err := j.of.write(s.Messages)
	j.of.said.say(line{Kind: saidFinished})

	return ctx, err
}

// write replaces the journal. The instruction is left out: the agent puts it there.
func (c *child) write(messages []*schema.Message) error {
	var kept []*schema.Message
	for _, m := range messages {
		if m.Role != schema.System {
			kept = append(kept, m)
		}
	}
	data, err := json.Marshal(kept)
	if err == nil {
		err = os.WriteFile(c.Journal+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(c.Journal+".new", c.Journal)
	}

	return err
}

// journalled returns the conversation to go on with.
func (c *child) journalled() ([]*schema.Message, error) {
	data, err := os.ReadFile(c.Journal)
	if errors.Is(err, os.ErrNotExist) {
		return []*schema.Message{schema.UserMessage(question)}, nil
	}
	if err != nil {
		return nil, err
	}
	var messages []*schema.Message

	return messages, json.Unmarshal(data, &messages)
}
