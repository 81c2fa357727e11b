package continuation

import (
	"reflect"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/claude"
	"github.com/cloudwego/eino/schema/gemini"
	"github.com/cloudwego/eino/schema/openai"
)

// agenticFinish returns the finish reason in what a client says of the response; empty if there is none.
func agenticFinish(meta *schema.AgenticResponseMeta) string {
	switch {
	case meta.OpenAIExtension != nil:
		return responseFinish(meta.OpenAIExtension)
	case meta.ClaudeExtension != nil:
		return meta.ClaudeExtension.StopReason
	case meta.GeminiExtension != nil:
		return meta.GeminiExtension.FinishReason
	case meta.Extension != nil:
		return extensionFinish(meta.Extension)
	default:
		return ""
	}
}

// responseFinish reads the status of a response. One that failed or was cancelled by the provider ended with an error.
func responseFinish(e *openai.ResponseMetaExtension) string {
	switch e.Status {
	case openai.ResponseStatusCompleted:
		return string(e.Status)
	case openai.ResponseStatusIncomplete:
		if e.IncompleteDetails != nil && e.IncompleteDetails.Reason != "" {
			return e.IncompleteDetails.Reason
		}

		return finishReasonLength
	case openai.ResponseStatusFailed, openai.ResponseStatusCancelled:
		return finishReasonFailed
	default:
		return ""
	}
}

// Finish reasons that stand for a status.
const (
	finishReasonLength = "length"
	finishReasonFailed = "failed"
)

// extensionFinish looks in the extension of a client that this package does not know for what its field is called.
func extensionFinish(ext any) string {
	v := reflect.ValueOf(ext)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return ""
	}
	for _, name := range []string{"FinishReason", "StopReason"} {
		if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
			return f.String()
		}
	}
	if f := v.FieldByName("Status"); f.IsValid() && f.Kind() == reflect.String {
		return responseFinish(&openai.ResponseMetaExtension{Status: openai.ResponseStatus(strings.ToLower(f.String()))})
	}

	return ""
}

// responseMeta returns what the consumer gets of a response: m's usage and finish reason, in the form of the client.
func (l *layout) responseMeta(m chunk) *schema.AgenticResponseMeta {
	r := m.ResponseMeta
	if m.origin != nil && m.origin.view.ResponseMeta != nil && r.FinishReason == m.origin.view.ResponseMeta.FinishReason {
		meta := *m.origin.of.ResponseMeta
		meta.TokenUsage = r.Usage

		return &meta
	}
	meta := new(schema.AgenticResponseMeta)
	if m.origin == nil && r.FinishReason != "" { // the last chunk of a recovered answer
		meta = l.ending(r.FinishReason)
	}
	meta.TokenUsage = r.Usage

	return meta
}

// ending returns what this attempt said of its response, with this finish reason.
func (l *layout) ending(reason string) *schema.AgenticResponseMeta {
	chunks := []*schema.AgenticMessage{{}, {}}
	for _, meta := range l.metas {
		chunks = append(chunks, &schema.AgenticMessage{ResponseMeta: meta})
	}
	meta := new(schema.AgenticResponseMeta)
	if m, err := schema.ConcatAgenticMessages(chunks); err == nil && m.ResponseMeta != nil {
		meta = m.ResponseMeta
	}
	if agenticFinish(meta) == reason {
		return meta
	}

	return withFinishReason(meta, reason)
}

// withFinishReason writes a reason of the decorator's own where the client's would stand.
func withFinishReason(meta *schema.AgenticResponseMeta, reason string) *schema.AgenticResponseMeta {
	m := *meta
	switch {
	case m.OpenAIExtension != nil:
		e := *m.OpenAIExtension
		e.Status, e.Error, e.IncompleteDetails = openai.ResponseStatusCompleted, nil, nil
		m.OpenAIExtension = &e
	case m.ClaudeExtension != nil:
		e := claude.ResponseMetaExtension{ID: m.ClaudeExtension.ID, StopReason: "tool_use"}
		m.ClaudeExtension = &e
	case m.GeminiExtension != nil:
		e := gemini.ResponseMetaExtension{ID: m.GeminiExtension.ID, FinishReason: "STOP", GroundingMeta: m.GeminiExtension.GroundingMeta}
		m.GeminiExtension = &e
	}
	_ = reason

	return &m
}
