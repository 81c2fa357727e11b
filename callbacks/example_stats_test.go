package callbacks_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exampleModel is reset in mid word; asked for the rest, it goes on.
func exampleModel() model.BaseChatModel {
	return faultmodel.New(
		faultmodel.Script{faultmodel.Text("Water boils at 100 deg"), faultmodel.Reset()},
		faultmodel.Script{faultmodel.Text("rees Celsius."), faultmodel.FinishUsage("stop", 30, 8)},
	).TypeName("OpenAI")
}

// exampleAsk reads one answer to its end, and returns how it ended; nil is a clean end.
func exampleAsk(chat *continuation.Model) error {
	reader, err := chat.Stream(context.Background(), []*schema.Message{schema.UserMessage("When does water boil?")})
	if err == nil {
		_, err = faultmodel.Collect(reader)
	}

	return err
}

func exampleNoWait() continuation.Option {
	return continuation.WithBackoff(func(int) time.Duration { return 0 })
}

// One Stats counts for as many models as it is given to.
func ExampleNewStats() {
	chatModel := exampleModel()

	stats := callbacks.NewStats()
	chat := continuation.Wrap(chatModel, continuation.WithHandler(stats))
	if err := exampleAsk(chat); err != nil {
		fmt.Println(err)
	}

	for _, m := range stats.Models() {
		rate, _ := m.RecoveryRate()
		fmt.Printf("%s: %d broke %v, %.0f%% recovered\n", m.Provider, m.Interrupted, m.Causes, 100*rate)
		fmt.Printf("%d bytes were not written twice, %d tokens were billed\n", m.KeptTextBytes, m.Billed.Total)
	}
	// Output:
	// OpenAI: 1 broke map[connection_reset:1], 100% recovered
	// 22 bytes were not written twice, 38 tokens were billed
}

// A log gives the same numbers as the events did.
func ExampleReplay() {
	var log bytes.Buffer
	log.WriteString("http: Server closed\n") // a line of somebody else
	handler := callbacks.Slog(slog.New(slog.NewJSONHandler(&log, nil)))
	chat := continuation.Wrap(exampleModel(), continuation.WithHandler(handler), exampleNoWait())
	if err := exampleAsk(chat); err != nil {
		fmt.Println(err)
	}

	stats := callbacks.NewStats()
	replayed, err := callbacks.Replay(context.Background(), strings.NewReader(log.String()), stats)
	if err != nil {
		fmt.Println(err)
	}
	for _, bad := range replayed.Bad {
		fmt.Printf("line %d: %v\n", bad.Number, bad.Err)
	}
	total := stats.Total()
	fmt.Println(total.Recovered, "of", total.Interrupted, "recovered")
	// Output:
	// line 1: callbacks: not a JSON object: invalid character 'h' looking for beginning of value
	// 1 of 1 recovered
}
