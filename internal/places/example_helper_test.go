package places_test

import (
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// exampleModel is reset in mid word; asked for the rest, it goes on.
func exampleModel() model.ToolCallingChatModel {
	return fm.New(
		fm.Script{fm.Text("Water boils at 100 deg"), fm.Reset()},
		fm.Script{fm.Text("rees Celsius."), fm.FinishUsage("stop", 30, 9)},
	).TypeName("Acme")
}

// exampleAgentic is exampleModel for agentic messages.
func exampleAgentic() model.AgenticModel {
	return fm.NewAgentic(
		fm.Script{fm.BlockText(0, "Water boils at 100 deg"), fm.Reset()},
		fm.Script{fm.BlockText(0, "rees Celsius."), fm.StopReason("end_turn", 30, 9)},
	)
}

// exampleBadDay breaks in a thought, in a call, and in the text.
func exampleBadDay() model.ToolCallingChatModel {
	return fm.New(
		fm.Script{fm.Reasoning("They want the "), fm.Reset()},
		fm.Script{fm.Reasoning("They ask at which temperature."), fm.Text("Water boils "), fm.Call(0, "c1", "measure", `{"wh`), fm.Reset()},
		fm.Script{fm.Text("at 100 degrees Celsius."), fm.Finish("stop")},
	)
}

// exampleGoneModel never comes to an end.
func exampleGoneModel() model.ToolCallingChatModel {
	return fm.New(
		fm.Script{fm.Text("Water boils at 100 deg"), fm.Reset()},
		fm.Script{fm.Text("rees"), fm.Reset()},
	)
}

func exampleQuestion() []*schema.Message {
	return []*schema.Message{schema.UserMessage("When does water boil?")}
}

func exampleTools() []tool.BaseTool { return nil }
