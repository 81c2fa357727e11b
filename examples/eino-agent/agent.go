package main

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
)

// newAgent returns a runner of an ordinary ADK agent. Nothing in it knows whether the model recovers its streams.
func newAgent(
	ctx context.Context, chat model.BaseChatModel, tools []tool.BaseTool, handlers ...adk.ChatModelAgentMiddleware,
) (*adk.Runner, error) {
	cfg := &adk.ChatModelAgentConfig{
		Name:        "engineer",
		Description: "answers questions about streams and what they cost",
		Instruction: instruction,
		Model:       chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{
			Tools: tools, ExecuteSequentially: true, // in the order in which they are drawn
		}},
		Handlers: handlers,
	}
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return nil, err
	}

	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true}), nil
}
