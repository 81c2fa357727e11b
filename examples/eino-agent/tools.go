package main

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
)

type calculatorInput struct {
	Expression string `json:"expression" jsonschema:"required" jsonschema_description:"such as 3 * (1.5 + 2) / 7"`
}

type readFileInput struct {
	Path string `json:"path" jsonschema:"required" jsonschema_description:"from the root of the repository, such as README.md"`
}

// newTools returns what the agent can do. A tool that cannot do what it was asked says so in its result, from which the
// model can learn; an error would end the run.
func newTools(files library) ([]tool.BaseTool, error) {
	calculator, err := utils.InferTool("calculator", "Computes an arithmetic expression.",
		func(_ context.Context, in calculatorInput) (string, error) {
			v, err := calculate(in.Expression)
			if err != nil {
				return fmt.Sprintf("%s: error: %v", in.Expression, err), nil
			}

			return in.Expression + " = " + v, nil
		})
	if err != nil {
		return nil, err
	}
	readFile, err := utils.InferTool("read_file", "Reads a text file of the repository.",
		func(_ context.Context, in readFileInput) (string, error) {
			text, err := files.read(in.Path)
			if err != nil {
				return fmt.Sprintf("%s: error: %v", in.Path, err), nil
			}

			return in.Path + ":\n" + text, nil
		})
	if err != nil {
		return nil, err
	}

	return []tool.BaseTool{calculator, readFile}, nil
}
