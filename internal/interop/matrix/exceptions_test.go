package matrix

import (
	"slices"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// exception is a set of cells in which a client shows something else than what happened.
type exception struct {
	vendors []faultllm.Vendor // empty: all
	faults  []string
	places  []string // empty: all
	shows   shown
	why     string
}

// shown is what a client makes of a fault.
type shown int

const (
	anError             shown = iota // what is harmless is an error
	anEnd                            // an error is an end like any other
	anErrorForTheFinish              // the finish reason is lost, which otherwise is kept
	aPiece                           // the text that comes with the error arrives
	nothingYet                       // net/http makes the request again by itself
	theWholeAnswer                   // it is known to be whole although no finish reason came
)

// exception returns the one that names the cell; nil if none does.
func (c cell) exception() *exception {
	all := exceptions()
	i := slices.IndexFunc(all, func(e exception) bool {
		return contains(e.vendors, c.client.Vendor) && contains(e.faults, c.fault.name) && contains(e.places, c.place.name)
	})
	if i < 0 {
		return nil
	}

	return &all[i]
}

func contains[T comparable](set []T, v T) bool { return len(set) == 0 || slices.Contains(set, v) }

func exceptions() []exception {
	type vendors = []faultllm.Vendor
	on := func(v ...faultllm.Vendor) vendors { return v }
	family := on(faultllm.OpenAI, faultllm.Qwen, faultllm.OpenRouter)

	return []exception{
		{
			vendors: append(family, faultllm.Ark), faults: []string{"400 keep-alives"}, shows: anError,
			why: "more than 300 lines without data in a row are an error",
		},
		{
			vendors: on(faultllm.ArkResponses), faults: []string{"20 keep-alives", "400 keep-alives", "20 comments"}, shows: anError,
			why: "a comment with its blank line is an event without data to this client",
		},
		{
			vendors: on(faultllm.Gemini, faultllm.Ollama), faults: []string{"20 comments"}, shows: anError,
			why: "a comment is no frame of this wire",
		},
		{
			vendors: on(faultllm.DeepSeek), shows: anEnd, faults: []string{
				"error: Vendor", "error: AfterComment", "error: Spaced", "error: String", "error: NumericCode", "error: Bare", "error: BareOpen",
				"error: Named", "error: Unended", "error: Untyped", "error without words", "overloaded_error", "rate_limit_error", "timeout_error",
			},
			why: "the client takes every line with an error for an empty chunk",
		},
		{
			vendors: family, faults: []string{"error: Spaced", "error: BareOpen"}, shows: anEnd,
			why: "the client looks for the text {\"error\": and for whole lines only",
		},
		{
			vendors: on(faultllm.OpenRouter), faults: []string{"error: FinishNumeric"}, shows: anError,
			why: "a numeric code is an error of its own, and the text beside it is lost",
		},
		{
			faults: []string{"error: FinishText", "error: FinishNumeric"}, shows: aPiece,
			why: "the frame with the error has a piece of text, which arrives",
		},
		{
			vendors: on(faultllm.Anthropic), faults: []string{"stall", "stall, keep-alives"}, places: []string{afterFinish}, shows: anErrorForTheFinish,
			why: "the client holds the stop reason back until the message ends",
		},
		{
			faults: []string{"HTTP/2: RST_STREAM REFUSED_STREAM"}, places: []string{beforeHeaders}, shows: nothingYet,
			why: "the code says that nothing was done, so net/http makes the request again by itself",
		},
		{
			vendors: on(faultllm.Ollama), faults: []string{"no finish reason"}, shows: theWholeAnswer,
			why: "the usage on its last line proves the end; the message has no finish reason",
		},
	}
}
