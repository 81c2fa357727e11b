package continuation

import (
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/callbacks"
)

// phrase is a text in lower case and what an error means that says it.
type phrase struct {
	text  string
	class Class
}

// textClass classifies an error that has no type by its text: whole phrases first, then names that can be nothing but
// a provider's, then a status. "Generate" does not say "rate", and an error that says nothing here stays unknown.
func textClass(message string) (Class, bool) {
	lower := strings.ToLower(clip(message))

	if c, found := findPhrase(lower, append(panicPhrases(), http2Phrases()...)); found {
		return c, true
	}

	if c, found := nameInText(clip(message)); found {
		return c, true
	}

	if c, found := findPhrase(lower, transportPhrases()); found {
		return c, true
	}

	if strings.HasSuffix(lower, ": eof") {
		return transport(callbacks.CauseConnectionReset), true
	}

	if status := statusInText(lower); status != 0 {
		return statusClass(status), true
	}

	return Class{}, false
}

func findPhrase(lower string, phrases []phrase) (Class, bool) {
	for _, p := range phrases {
		if hasPhrase(lower, p.text) {
			return p.class, true
		}
	}

	return Class{}, false
}

// panicPhrases are the beginnings of the errors that Eino makes of a panic below a stream. The stack behind them says
// anything, so they are looked at first.
func panicPhrases() []phrase {
	return []phrase{{"panic error:", Class{
		Kind: Transient, Cause: callbacks.CauseUnknown, ErrorKind: callbacks.KindUnknown,
	}}}
}

// transportPhrases are the texts of errors without a type, or whose type was lost on the way.
func transportPhrases() []phrase {
	reset := transport(callbacks.CauseConnectionReset)
	timeout := transport(callbacks.CauseTimeout)
	body := bodyDecode(callbacks.CauseMalformedFrame)
	told := provider(Transient, callbacks.CauseProviderError)

	return []phrase{
		{"an error was encountered while running the model", told},
		{"gemini result is empty", told},
		{"invalid stream chunk", malformedFrame()},
		{"stream has sent too many empty messages", malformedFrame()},
		{"unexpected end of json input", malformedFrame()},
		{"syntax error at index", malformedFrame()},
		{"mismatch type", malformedFrame()},
		{"malformed chunked encoding", body},
		{"chunked encoding contains too much non-data", body},
		{"chunked line ends with bare lf", body},
		{"invalid cr in chunked line", body},
		{"empty hex number for chunk length", body},
		{"invalid byte in chunk length", body},
		{"http chunk length too large", body},
		{"header line too long", body},
		{"unexpected eof reading trailer", body},
		{"suspiciously long trailer after chunked body", body},
		{"server replied with more than declared content-length", body},
		{"malformed http response", body},
		{"malformed http status code", body},
		{"malformed http version", body},
		{"unexpected eof", bodyDecode(callbacks.CauseConnectionReset)},
		{"i/o timeout", timeout},
		{"context deadline exceeded", timeout},
		{"tls handshake timeout", timeout},
		{"timeout awaiting response headers", timeout},
		{"client.timeout exceeded", timeout},
		{"client.timeout or context cancellation while reading body", timeout},
		{"connection reset by peer", reset},
		{"connection refused", reset},
		{"broken pipe", reset},
		{"no route to host", reset},
		{"network is unreachable", reset},
		{"no such host", reset},
		{"use of closed network connection", reset},
		{"server closed idle connection", reset},
		{"transport connection broken", reset},
		{"transport failed to read from server", reset},
		{"read on closed response body", reset},
		{"request canceled", reset},
		{"context canceled", reset},
	}
}

// nameInText looks for a provider's name for an error: a word with an underscore, or one that ends in Exception.
func nameInText(message string) (Class, bool) {
	var general *Class

	for word := range strings.FieldsFuncSeq(message, func(r rune) bool { return !isWordRune(r) }) {
		if !strings.Contains(strings.Trim(word, "_"), "_") && !strings.HasSuffix(word, "Exception") {
			continue
		}

		c, weak, found := nameClass(word)
		if found && !weak {
			return c, true
		}

		if found && general == nil {
			general = &c
		}
	}

	if general == nil {
		return Class{}, false
	}

	return *general, true
}

// statusInText returns a status that is called so ("status code: 503") or is followed by its own text ("503 Service
// Unavailable"); 0 if there is none.
func statusInText(lower string) int {
	words := strings.FieldsFunc(lower, func(r rune) bool { return !isWordRune(r) })

	for i, word := range words {
		status, err := strconv.Atoi(word)
		if err != nil || len(word) != 3 || !isStatus(int64(status)) {
			continue
		}

		if isCalledStatus(words[:i]) || hasPhrase(lower, word+" "+statusText(status)) {
			return status
		}
	}

	return 0
}

func isCalledStatus(before []string) bool {
	if len(before) > 1 && before[len(before)-1] == "code" {
		before = before[:len(before)-1]
	}

	if len(before) == 0 {
		return false
	}

	switch before[len(before)-1] {
	case "status", "statuscode", "status_code":
		return true
	default:
		return false
	}
}

// statusText returns the text of a status in lower case, or one that stands nowhere.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return strings.ToLower(text)
	}

	return "\x00"
}

// contextPhrases are how providers say that a request is too long, in lower case.
func contextPhrases() []string {
	return []string{
		"prompt is too long", "input is too long", "maximum context length", "maximum prompt length",
		"context_length_exceeded", "context length exceeded", "exceeds the context", "exceed context limit",
		"context window", "context size", "maximum number of tokens allowed", "range of input length",
		"reduce the length of the messages", "exceeded model token limit", "exceed max message tokens",
		"too many tokens",
	}
}

// speaksOf says whether one of phrases, in lower case, stands in err's text or in the text that a client keeps beside
// it: the fields Message, ErrorMessage, Body and ResponseBody, and the method RawJSON.
func speaksOf(err error, phrases ...string) bool {
	for _, node := range nodes(err) {
		for _, message := range textsOf(node) {
			lower := strings.ToLower(clip(message))

			for _, p := range phrases {
				if hasPhrase(lower, p) {
					return true
				}
			}
		}
	}

	return false
}

func textsOf(node error) (texts []string) {
	// As in reading.read.
	defer func() { _ = recover() }()

	v := structOf(node)
	for _, name := range []string{"Message", "ErrorMessage", "Body", "ResponseBody"} {
		if f, found := firstField(v, name); found {
			texts = append(texts, text(f))
		}
	}

	if raw, ok := any(node).(interface{ RawJSON() string }); ok {
		texts = append(texts, raw.RawJSON())
	}

	return append(texts, node.Error())
}

// maxText bounds how much of an error's text is looked at: a proxy's page can be long.
const maxText = 64 << 10

func clip(message string) string { return message[:min(len(message), maxText)] }

// hasPhrase says whether p stands in lower as whole words.
func hasPhrase(lower, p string) bool {
	for start := 0; start < len(lower); {
		i := strings.Index(lower[start:], p)
		if i < 0 {
			return false
		}

		i += start
		if !endsInWord(lower[:i], p) && !beginsInWord(lower[i+len(p):], p) {
			return true
		}

		start = i + 1
	}

	return false
}

// endsInWord says whether the first word of p goes on to the left.
func endsInWord(left, p string) bool {
	before, _ := utf8.DecodeLastRuneInString(left)
	first, _ := utf8.DecodeRuneInString(p)

	return left != "" && isWordRune(before) && isWordRune(first)
}

// beginsInWord says whether the last word of p goes on to the right.
func beginsInWord(right, p string) bool {
	after, _ := utf8.DecodeRuneInString(right)
	last, _ := utf8.DecodeLastRuneInString(p)

	return right != "" && isWordRune(after) && isWordRune(last)
}

// isWordRune takes all that is not ASCII for a letter: no phrase borders on it by accident.
func isWordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}
