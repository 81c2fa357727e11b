package otelcallbacks

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// An event that the list lacks would escape the tests below.
func TestEveryEventTypeIsListed(t *testing.T) {
	source, err := os.ReadFile("../name.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`return "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		want = append(want, m[1])
	}
	for _, e := range everyEvent() {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	same(t, got, want)
}

func TestMetricsOfEveryEvent(t *testing.T) {
	m := newMeter(t)
	for _, e := range everyEvent() {
		m.Handle(t.Context(), e)
	}
	same(t, m.lines(t), []string{
		"carryon.breaker_changes carryon.breaker.state=open 1",
		"carryon.cancelled_calls 1",
		"carryon.checkpoint_failures carryon.checkpoint.operation=put 1",
		"carryon.continuations carryon.plan=TruncateBeforeTool 1",
		"carryon.discarded_tool_calls 1",
		"carryon.discarded_tool_input 17",
		"carryon.exhausted_calls carryon.reason=budget 1",
		"carryon.failed_continuations error.type=overloaded 1",
		"carryon.interrupted_calls 1",
		"carryon.interruptions carryon.plan=TruncateBeforeTool error.type=connection_reset 1",
		"carryon.joins carryon.join.confidence=high carryon.join.kind=overlap 1",
		"carryon.kept_text 40",
		"carryon.late_errors error.type=connection_reset 1",
		"carryon.notices carryon.notice=nested_decorator 1",
		"carryon.open_retries error.type=provider_5xx 1",
		"carryon.recovered_calls 1",
		"carryon.restarts 1",
		"carryon.stalled_handlers 1",
		"carryon.wait.duration carryon.wait.before=continuation 1: 2",
		"carryon.wait.duration carryon.wait.before=open_retry 1: 1",
		"gen_ai.client.operation.duration error.type=timeout 1: 5",
		"gen_ai.client.operation.time_to_first_chunk 1: 1",
		"gen_ai.client.token.usage gen_ai.token.type=input 3: 30",
		"gen_ai.client.token.usage gen_ai.token.type=output 3: 15",
	})
}

// The package documentation promises names, units and attributes; it must not promise others.
func TestDocumentedMetricsAreTheRealOnes(t *testing.T) {
	m := newMeter(t)
	for _, e := range everyEvent() {
		m.Handle(t.Context(), e)
	}
	m.Handle(t.Context(), callbacks.Ended{Call: everyEvent()[0].Of(), Outcome: callbacks.OutcomeRecovered})
	var got []string
	for _, metric := range m.metrics(t) {
		got = append(got, metric.Name+" "+metric.Unit)
		var keys []string
		counts := map[string]int{}
		for _, p := range points(t, metric) {
			for _, a := range p.attributes.ToSlice() {
				if counts[string(a.Key)]++; counts[string(a.Key)] == 1 {
					keys = append(keys, string(a.Key))
				}
			}
		}
		for _, key := range keys {
			if !slices.Contains(common(), key) {
				if counts[key] < len(points(t, metric)) {
					key += "?"
				}
				got = append(got, metric.Name+" has "+key)
			}
		}
	}
	slices.Sort(got)
	same(t, documented(t), got)
}

// documented reads the table of doc.go.
func documented(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var p comment.Parser
	var table string
	for _, b := range p.Parse(f.Doc.Text()).Content {
		if code, ok := b.(*comment.Code); ok {
			table = code.Text
		}
	}
	var lines []string
	var name string
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, " ") {
			name = words[0]
			lines = append(lines, name+" "+words[1])

			continue
		}
		for _, key := range words {
			lines = append(lines, name+" has "+key)
		}
	}
	slices.Sort(lines)

	return lines
}

func TestEveryMetricTellsItsModel(t *testing.T) {
	for _, c := range []struct{ provider, model, want string }{
		{"OpenAI", "example-model", "chat openai example-model"},
		{"Claude", "example-model", "chat anthropic example-model"},
		{"Gemini", "example-model", "chat gcp.gemini example-model"},
		{"DeepSeek", "example-model", "chat deepseek example-model"},
		{"Ollama", "unknown", "chat Ollama -"},
		{"unknown", "unknown", "chat unknown -"},
		{"", "", "chat unknown -"},
	} {
		m := newMeter(t)
		for _, e := range everyEvent() {
			m.Handle(t.Context(), withModel(t, e, c.provider, c.model))
		}
		for _, metric := range m.metrics(t) {
			for _, p := range points(t, metric) {
				var values []string
				for _, key := range common() {
					v, ok := p.attributes.Value(attribute.Key(key))
					if !ok {
						v = attribute.StringValue("-")
					}
					values = append(values, v.AsString())
				}
				if got := strings.Join(values, " "); got != c.want {
					t.Errorf("%s is of %q, want %q", metric.Name, got, c.want)
				}
			}
		}
	}
}

// What a call was billed is told by one event of it, whichever it has.
func TestTokensAreBilledOnce(t *testing.T) {
	u := snapshot.Usage{Known: true, Prompt: 10, Completion: 5}
	for _, c := range []struct {
		name   string
		events []callbacks.Event
		want   []string
	}{
		{
			"recovered",
			[]callbacks.Event{callbacks.Completed{Billed: u}, callbacks.Ended{Outcome: callbacks.OutcomeRecovered, Billed: u}},
			[]string{"1: 10", "1: 5"},
		},
		{
			"exhausted",
			[]callbacks.Event{callbacks.Exhausted{Billed: u}, callbacks.Ended{Outcome: callbacks.OutcomeExhausted, Billed: u}},
			[]string{"1: 10", "1: 5"},
		},
		{"complete", []callbacks.Event{callbacks.Ended{Outcome: callbacks.OutcomeComplete, Billed: u}}, []string{"1: 10", "1: 5"}},
		{
			"cancelled",
			[]callbacks.Event{callbacks.Cancelled{}, callbacks.Ended{Outcome: callbacks.OutcomeCancelled, Billed: u}},
			[]string{"1: 10", "1: 5"},
		},
		{"not reported", []callbacks.Event{callbacks.Completed{}, callbacks.Exhausted{}, callbacks.Ended{}}, nil},
		{"zero", []callbacks.Event{callbacks.Completed{Billed: snapshot.Usage{Known: true}}}, []string{"1: 0", "1: 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMeter(t)
			for _, e := range c.events {
				m.Handle(t.Context(), e)
			}
			var got []string
			for _, metric := range m.metrics(t) {
				if metric.Name == "gen_ai.client.token.usage" {
					for _, p := range points(t, metric) {
						got = append(got, p.value)
					}
				}
			}
			slices.Sort(got)
			same(t, got, c.want)
		})
	}
}

func TestErrorTypeOfAnEndedCall(t *testing.T) {
	for outcome, want := range map[callbacks.Outcome]string{
		callbacks.OutcomeComplete: "", callbacks.OutcomeRecovered: "",
		callbacks.OutcomeFailed:    " error.type=timeout",
		callbacks.OutcomeExhausted: " error.type=timeout",
		callbacks.OutcomeCancelled: " error.type=cancelled",
		"unheard of":               " error.type=timeout",
	} {
		m := newMeter(t)
		m.Handle(t.Context(), callbacks.Ended{Outcome: outcome, Cause: callbacks.CauseTimeout, Duration: time.Second})
		same(t, m.lines(t), []string{"gen_ai.client.operation.duration" + want + " 1: 1"})
	}
}
