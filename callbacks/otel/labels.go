package otelcallbacks

import (
	"strings"
	"sync"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/eino-carryon/carryon/callbacks"
)

const (
	other    = "_OTHER" // the conventions' word for what is not told apart
	unknown  = "unknown"
	maxWords = 64  // values of an attribute
	maxName  = 128 // bytes of a value
)

// labels keeps the values of attributes few.
type labels struct {
	models *fewOf[[2]string]
	words  map[attribute.Key]*fewOf[string] // not changed any more
}

func newLabels(maxModels int) labels {
	l := labels{models: newFewOf[[2]string](maxModels), words: make(map[attribute.Key]*fewOf[string])}
	for _, key := range []attribute.Key{
		semconv.ErrorTypeKey, keyPlan, keyReason, keyJoinKind, keyJoinConfidence, keyBreakerState, keyOperation, keyNotice,
	} {
		l.words[key] = newFewOf[string](maxWords)
	}

	return l
}

// model returns the attributes that every metric of a call has.
func (l labels) model(of callbacks.Call) []attribute.KeyValue {
	name := [2]string{providerName(of.Provider), shortened(of.Model)}
	if !l.models.has(name) {
		name = [2]string{other, other}
	}
	as := []attribute.KeyValue{semconv.GenAIOperationNameChat, semconv.GenAIProviderNameKey.String(name[0])}
	if name[1] != unknown && name[1] != "" {
		as = append(as, semconv.GenAIRequestModel(name[1]))
	}

	return as
}

// word returns word, or what stands for those that are too many.
func (l labels) word(key attribute.Key, word string) string {
	if word = shortened(word); word == "" || !l.words[key].has(word) {
		return other
	}

	return word
}

// providerName returns the conventions' name of a provider, if they have one.
func providerName(typ string) string {
	switch typ {
	case "OpenAI":
		return semconv.GenAIProviderNameOpenAI.Value.AsString()
	case "Claude":
		return semconv.GenAIProviderNameAnthropic.Value.AsString()
	case "Gemini":
		return semconv.GenAIProviderNameGCPGemini.Value.AsString()
	case "DeepSeek":
		return semconv.GenAIProviderNameDeepseek.Value.AsString()
	case "":
		return unknown
	default:
		return shortened(typ)
	}
}

// shortened returns a name that can be exported: of valid UTF-8, which the protocol demands, and not too long.
func shortened(name string) string {
	if len(name) <= maxName && utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for _, r := range name { // an invalid byte comes as U+FFFD
		if b.Len()+utf8.RuneLen(r) > maxName {
			break
		}
		b.WriteRune(r)
	}

	return b.String()
}

// fewOf remembers the first values that it is asked about.
type fewOf[T comparable] struct {
	mu   sync.Mutex
	max  int
	seen map[T]struct{}
}

func newFewOf[T comparable](n int) *fewOf[T] { return &fewOf[T]{max: n, seen: make(map[T]struct{})} }

// has reports whether v is one of the few.
func (f *fewOf[T]) has(v T) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.seen[v]; ok {
		return true
	}
	if len(f.seen) >= f.max {
		return false
	}
	f.seen[v] = struct{}{}

	return true
}
