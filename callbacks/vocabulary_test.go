package callbacks

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// vocabulary returns the words of vocabulary.go by their type.
func vocabulary(t *testing.T) map[string][]string {
	t.Helper()
	words := map[string][]string{}
	for _, d := range parsed(t, "vocabulary.go").Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			typ, word := constant(t, spec)
			words[typ] = append(words[typ], word)
		}
	}

	return words
}

// constant returns the type and the value of a constant, which must have both.
func constant(t *testing.T, spec ast.Spec) (typ, word string) {
	t.Helper()
	v, ok := spec.(*ast.ValueSpec)
	if !ok || len(v.Values) != 1 {
		t.Fatalf("%v is not one constant", spec)
	}
	id, isName := v.Type.(*ast.Ident)
	lit, isLiteral := v.Values[0].(*ast.BasicLit)
	if !isName || !isLiteral {
		t.Fatalf("%s is not a typed string", v.Names[0])
	}
	word, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatalf("%s: %v", v.Names[0], err)
	}

	return id.Name, word
}

// The words stand in logs and in metrics: they change with a major version only.
func TestVocabulary(t *testing.T) {
	for typ, want := range map[string][]string{
		"Cause": {
			"connection_reset", "goaway", "provider_5xx", "idle_stall", "truncated", "malformed_frame", "provider_error",
			"rate_limited", "overloaded", "timeout", "tool_call_truncated", "restarted", "resumed_from_checkpoint",
			"permanent", "unknown",
		},
		"ErrorKind": {
			"sse_transport", "sse_parse", "body_decode", "provider_error", "idle_stall", "truncated", "unknown",
		},
		"JoinKind":   {"plain", "space", "overlap", "preamble", "restart", "undecided", "empty"},
		"Confidence": {"high", "medium", "low"},
		"Outcome":    {"complete", "recovered", "failed", "exhausted", "cancelled"},
	} {
		for _, word := range want {
			if !slices.Contains(vocabulary(t)[typ], word) {
				t.Errorf("%s %q is gone", typ, word)
			}
		}
	}
}

func TestVocabularyHasEachWordOnceInSnakeCase(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	for typ, words := range vocabulary(t) {
		for i, word := range words {
			if !snake.MatchString(word) || slices.Contains(words[:i], word) {
				t.Errorf("%s %q is no word of its own in snake case", typ, word)
			}
		}
	}
}
