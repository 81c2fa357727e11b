package faultllm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// ErrorForm is how an error inside a stream looks. The zero value is [FormVendor].
type ErrorForm int

// The forms. A wire that does not have a form uses [FormVendor]; see [ErrorForms].
const (
	// FormVendor is the form that the vendor documents.
	FormVendor ErrorForm = iota
	// FormAfterComment is FormVendor behind a comment.
	FormAfterComment
	// FormSpaced has white space in front of the first key.
	FormSpaced
	// FormString has the message where the error object belongs.
	FormString
	// FormNumericCode has a number as its code.
	FormNumericCode
	// FormFinish is a chunk with an error, an empty text and the finish reason "error".
	FormFinish
	// FormFinishText is FormFinish with the next piece of text.
	FormFinishText
	// FormFinishNumeric is FormFinishText with a number as its code.
	FormFinishNumeric
	// FormBare is the error as a line of its own, outside of any event.
	FormBare
	// FormBareOpen is FormBare without the end of the line.
	FormBareOpen
	// FormMultiLine is FormBare over several lines.
	FormMultiLine
	// FormData is an error as the data of an event without a name.
	FormData
	// FormNotJSON is an error event whose data is only text.
	FormNotJSON
	// FormBlocked is a prompt that was blocked, which ends the answer.
	FormBlocked
	// FormUsageOnly is a chunk with nothing but usage.
	FormUsageOnly
	// FormNamed is the error as the data of an event with the name "error".
	FormNamed
	// FormUnended is the error as the data of an event that no blank line follows.
	FormUnended
	// FormFailed is the end of a response that failed, with the error in it.
	FormFailed
	// FormFailedUnbilled is FormFailed without usage.
	FormFailedUnbilled
	// FormIncompleteUnbilled is the end of a response at its limit, without usage.
	FormIncompleteUnbilled
	// FormUnknown is an event of a type that nobody knows.
	FormUnknown
	// FormUntyped is FormVendor (of OpenRouter FormData) with a message only.
	FormUntyped
)

// ErrorForms returns the forms that the vendor's wire has.
func ErrorForms(v Vendor) []ErrorForm {
	switch v {
	case Anthropic:
		return []ErrorForm{FormVendor, FormData, FormNotJSON, FormUntyped}
	case Gemini:
		return []ErrorForm{FormVendor, FormMultiLine, FormData, FormBlocked, FormUsageOnly, FormUntyped}
	case Ollama:
		return []ErrorForm{FormVendor}
	case ArkResponses:
		return []ErrorForm{
			FormVendor, FormAfterComment, FormSpaced, FormString, FormNumericCode, FormBare, FormData, FormUnended,
			FormFailed, FormFailedUnbilled, FormIncompleteUnbilled, FormUnknown, FormUntyped,
		}
	case OpenAI, DeepSeek, Qwen, OpenRouter, Ark:
	}
	forms := []ErrorForm{
		FormVendor, FormAfterComment, FormSpaced, FormString, FormNumericCode, FormFinishText, FormFinishNumeric,
		FormBare, FormBareOpen, FormNamed, FormUnended, FormUntyped,
	}
	if v == OpenRouter { // its own form is FormFinish.
		return append(forms, FormData)
	}
	return append(forms, FormFinish)
}

func (f ErrorForm) in(v Vendor) ErrorForm {
	if slices.Contains(ErrorForms(v), f) {
		return f
	}
	return FormVendor
}

// String names the form.
func (f ErrorForm) String() string {
	names := [...]string{
		"Vendor", "AfterComment", "Spaced", "String", "NumericCode", "Finish", "FinishText", "FinishNumeric", "Bare",
		"BareOpen", "MultiLine", "Data", "NotJSON", "Blocked", "UsageOnly", "Named", "Unended",
		"Failed", "FailedUnbilled", "IncompleteUnbilled", "Unknown", "Untyped",
	}
	if f < 0 || int(f) >= len(names) {
		return fmt.Sprintf("ErrorForm(%d)", int(f))
	}
	return names[f]
}

// InBandForm is [InBandError] in a given form.
func InBandForm(at Position, form ErrorForm, errType, message string) Fault {
	return Fault{kind: faultInBand, at: at, form: form, errType: errType, body: message}
}

// InBandStall is [InBandForm], but the body does not end behind the error: nothing more comes until the client leaves.
func InBandStall(at Position, form ErrorForm, errType, message string) Fault {
	return Fault{kind: faultInBandStall, at: at, form: form, errType: errType, body: message}
}

// indent spreads a document over several lines.
func indent(doc []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return doc
	}
	return b.Bytes()
}
