package matrix

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
)

// rows are the files in which the faults of the table are made.
func rows() []string { return []string{"faults_test.go", "refusals_test.go", "matrix_test.go"} }

// without are the faults of the provider that no row names, and why.
func without() map[string]string {
	return map[string]string{
		"AfterFinish":  "it is CutChunked at Finished: the row of a cut, after the finish",
		"Hold":         "it is Pause, ended by the test and not by the clock: the row of 100 s of silence",
		"WithOneIndex": "it needs two calls, and an answer here has one: the rows of one index in the package provider",
	}
}

// TestEveryFaultHasARow reads the provider's source: each function that makes a fault is called where the rows are made.
func TestEveryFaultHasARow(t *testing.T) {
	named := map[string]bool{}
	for _, file := range rows() {
		ast.Inspect(parsed(t, file), func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok && of.Name == "faultllm" {
					named[s.Sel.Name] = true
				}
			}

			return true
		})
	}
	makers := 0
	files, err := filepath.Glob("../../faultllm/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range parsed(t, file).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Recv != nil || !makes(f, "Fault") && !makes(f, "RetryAfter") {
				continue
			}
			makers++
			reason, excepted := without()[f.Name.Name]
			assert.NotEqual(t, named[f.Name.Name], excepted, "%s has no row, or needs no exception (%s)", f.Name.Name, reason)
		}
	}
	assert.Greater(t, makers, 25, "the source was not read")
}

// TestEveryFormOfAnErrorHasARow holds that each is in the table of each vendor that has it.
func TestEveryFormOfAnErrorHasARow(t *testing.T) {
	there := map[string]bool{}
	for _, c := range cells() {
		there[c.client.String()+" "+c.fault.name] = true
	}
	for _, c := range clients.All() {
		for _, form := range faultllm.ErrorForms(c.Vendor) {
			assert.True(t, there[c.String()+" error: "+form.String()], "%v %v", c, form)
		}
	}
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)

	return f
}

// makes says whether f returns one value, of the type with this name.
func makes(f *ast.FuncDecl, of string) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	name, ok := f.Type.Results.List[0].Type.(*ast.Ident)

	return ok && name.Name == of
}
