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
	for _, name := range reasonFields() {
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
	meta := concatMetas(l.metas)
	if agenticFinish(meta) == reason {
		return meta
	}

	return withFinishReason(meta, l.typ, reason)
}

// concatMetas returns what the reports say together; an empty one if they do not add up.
func concatMetas(metas []*schema.AgenticResponseMeta) *schema.AgenticResponseMeta {
	chunks := []*schema.AgenticMessage{{}, {}}
	for _, meta := range metas {
		chunks = append(chunks, &schema.AgenticMessage{ResponseMeta: meta})
	}
	if m, err := schema.ConcatAgenticMessages(chunks); err == nil && m.ResponseMeta != nil {
		return m.ResponseMeta
	}

	return new(schema.AgenticResponseMeta)
}

// withFinishReason returns meta with a reason of the decorator's own, where and as a client of this type would put it.
func withFinishReason(meta *schema.AgenticResponseMeta, typ, reason string) *schema.AgenticResponseMeta {
	m := *meta
	switch form := agenticForm(typ); {
	case m.Extension != nil:
		m.Extension = extensionWith(m.Extension, reason)
	case m.ClaudeExtension != nil || m == (schema.AgenticResponseMeta{}) && form == formClaude:
		e := new(claude.ResponseMetaExtension)
		if m.ClaudeExtension != nil {
			e.ID = m.ClaudeExtension.ID
		}
		e.StopReason = "tool_use"
		m.ClaudeExtension = e
	case m.GeminiExtension != nil || m == (schema.AgenticResponseMeta{}) && form == formGemini:
		e := new(gemini.ResponseMetaExtension)
		if m.GeminiExtension != nil {
			*e = *m.GeminiExtension
		}
		e.FinishReason = "STOP"
		m.GeminiExtension = e
	case m.OpenAIExtension != nil || m == (schema.AgenticResponseMeta{}) && form == formOpenAI:
		e := new(openai.ResponseMetaExtension)
		if m.OpenAIExtension != nil {
			*e = *m.OpenAIExtension
		}
		e.Status, e.Error, e.IncompleteDetails = openai.ResponseStatusCompleted, nil, nil
		m.OpenAIExtension = e
	}

	return &m
}

// extensionWith returns a copy of the extension of a client that this package does not know, with this reason; ext itself
// if it has no field for one.
func extensionWith(ext any, reason string) any {
	p := reflect.ValueOf(ext)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		return ext
	}
	cp := reflect.New(p.Elem().Type())
	cp.Elem().Set(p.Elem())
	for _, name := range reasonFields() {
		if f := cp.Elem().FieldByName(name); f.IsValid() && f.Kind() == reflect.String && f.CanSet() {
			f.SetString(reason)

			return cp.Interface()
		}
	}

	return ext
}

// reasonFields are the fields in which clients keep a finish reason.
func reasonFields() []string { return []string{"FinishReason", "StopReason"} }

// failure returns the error that a client reported in a chunk instead of returning it; nil if there is none.
func (o *origin) failure() error {
	if o == nil || o.of == nil || o.of.ResponseMeta == nil || o.of.ResponseMeta.OpenAIExtension == nil {
		return nil
	}
	e := o.of.ResponseMeta.OpenAIExtension.Error
	if e == nil || e.Code == "" && e.Message == "" {
		return nil
	}

	return &inBandError{Code: string(e.Code), Message: e.Message}
}
