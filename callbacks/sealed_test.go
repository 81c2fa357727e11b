package callbacks

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, name string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}

	return f
}

// An event that the table does not list would escape all tests of this package.
func TestEveryEventTypeIsListed(t *testing.T) {
	var declared []string
	ast.Inspect(parsed(t, "event.go"), func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok && embedsCall(s) {
			declared = append(declared, spec.Name.Name)
		}

		return false
	})

	var listed []string
	for _, w := range everyEvent() {
		listed = append(listed, reflect.TypeOf(w.event).Name())
	}
	slices.Sort(declared)
	slices.Sort(listed)
	if !slices.Equal(declared, listed) {
		t.Errorf("event.go declares\n%q, the table lists\n%q", declared, listed)
	}
}

func embedsCall(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		id, ok := f.Type.(*ast.Ident)

		return ok && len(f.Names) == 0 && id.Name == "Call"
	})
}

func TestEventIsSealed(t *testing.T) {
	event := reflect.TypeFor[Event]()
	for m := range event.Methods() {
		if !m.IsExported() {
			return
		}
	}
	t.Error("other packages can make events of their own")
}

func TestEventNamesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range everyEvent() {
		if seen[w.event.Name()] {
			t.Errorf("%s is the name of two events", w.event.Name())
		}
		seen[w.event.Name()] = true
	}
}

func TestEventTellsItsCall(t *testing.T) {
	for _, w := range everyEvent() {
		if w.event.Of() != testCall() {
			t.Errorf("%s: Of() = %+v", w.name, w.event.Of())
		}
	}
}

// The package documentation promises names, levels and fields; it must not promise others.
func TestDocumentedRecordsAreTheRealOnes(t *testing.T) {
	want := map[string]string{}
	for _, w := range everyEvent() {
		m := valuesOf(t, logged(t, w.event))
		level, _ := m["level"].(string)
		fields := []string{level}
		for _, f := range keysOf(t, logged(t, w.event))[2+len(callFields()):] {
			if slices.Contains(optionalFields(w.name), f) {
				f += "?"
			}
			fields = append(fields, f)
		}
		want[w.event.Name()] = strings.Join(fields, " ")
	}

	got := documentedRecords(t)
	for name, record := range want {
		if got[name] != record {
			t.Errorf("%s is documented as\n%q, but is\n%q", name, got[name], record)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is documented, but does not exist", name)
		}
	}
}

// documentedRecords reads the table of doc.go: each name with its level and fields.
func documentedRecords(t *testing.T) map[string]string {
	t.Helper()
	records := map[string]string{}
	var name string
	for line := range strings.Lines(recordTable(t)) {
		words := strings.Fields(line)
		if strings.HasPrefix(line, " ") {
			records[name] += " " + strings.Join(words, " ")

			continue
		}
		name = words[0]
		if _, ok := records[name]; ok {
			t.Errorf("%s is documented twice", name)
		}
		records[name] = strings.Join(words[1:], " ")
	}

	return records
}

// recordTable returns the last code block of the package documentation.
func recordTable(t *testing.T) string {
	t.Helper()
	var p comment.Parser
	blocks := p.Parse(parsed(t, "doc.go").Doc.Text()).Content
	for _, b := range slices.Backward(blocks) {
		if code, ok := b.(*comment.Code); ok {
			return code.Text
		}
	}
	t.Fatal("doc.go has no table")

	return ""
}
