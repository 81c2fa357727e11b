package scenarios_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reports are the labels of all reports, section by section.
const reports = `
A B001 B002 B003 B005 B006 B007 B009 B010 B011 B013 B014 B015 B017 B018
B B019 B021 B022 B023 B025 B026 B027 B029 B030 B031 B033
C B034 B035 B037 B038 B039 B041 B042 B043 B045 B046 B047 B049 B050
D B051 B053 B054 B055 B057 B058 B059 B061 B062 B063 B065 B066 B067 B069 B070 B071
E B073 B074 B075 B077 B078 B079 B081 B082 B083
F B085 B086 B087 B089 B090 B091 B093 B094 B095 B097 B098
G B099 B101 B102 B103 B105 B106 B107 B109 B110 B111 B113 B114 B115 B117
H B118 B119 B121 B122 B123 B125 B126 B127 B129 B130 B131 B133 B134 B135
I B137 B138 B139 B141 B142
J B143 B145 B146 B147 B149 B150 B151 B153
K B154 B155 B157 B158 B159 B161 B162 B163 B165 B166 B167 B169 B170
`

// coverage says which test plays a report.
func coverage() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"B001": TestBareEOF,
		"B002": TestBareEOFBehindAThought,
		"B003": TestBareEOF,
		"B005": TestEndsThatAreNone,
		"B007": TestEndsThatAreNone,
		"B009": TestBareEOF,
		"B010": TestServersWithoutFinishReason,
		"B011": TestServersWithoutFinishReason,
		"B013": TestPartialIsKept,
		"B014": TestBareEOF,
		"B015": TestPartialIsKept,
		"B017": TestFrameThatIsNoJSON,
		"B018": TestNoSuccessBehindAnError,
		"B019": TestOverloadInsideAStream,
		"B021": TestOverloadInsideAStream,
		"B022": TestOverloadInsideAStream,
		"B023": TestNameBeatsNumber,
		"B025": TestPreamble,
		"B026": TestPreamble,
		"B027": TestErrorsThatNobodyMends,
		"B030": TestHTTP2,
		"B031": TestHTTP2,
		"B033": TestCancelledByTheProvider,
		"B034": TestRestartIsAnnounced,
		"B035": TestOnlyTheRestIsAskedFor,
		"B037": TestPiecesOfTwoCalls,
		"B038": TestOnlyTheRestIsAskedFor,
		"B039": TestOnlyTheRestIsAskedFor,
		"B041": TestSeams,
		"B042": TestSeams,
		"B043": TestNothingIsGluedInSilence,
		"B045": TestPreambleOfAContinuation,
		"B046": TestSeams,
		"B047": TestCutInsideACharacter,
		"B049": TestDialects,
		"B050": TestDialects,
		"B051": TestCallsOfABrokenAttempt,
		"B053": TestCallCutAtALimit,
		"B054": TestHalfACallAtAFinishReason,
		"B055": TestHalfACallAtAFinishReason,
		"B057": TestCallCutAtALimit,
		"B058": TestHalfACallAtAFinishReason,
		"B059": TestHalfACallAtAFinishReason,
		"B061": TestHalfACall,
		"B062": TestHalfACall,
		"B063": TestToolsOfAContinuation,
		"B065": TestWholeCallsOfABrokenAnswer,
		"B066": TestWholeCallsOfABrokenAnswer,
		"B067": TestToolsOfAContinuation,
		"B069": TestTakeOver,
		"B070": TestToolsOfAContinuation,
		"B071": TestPiecesOfACall,
		"B073": TestHalfAThought,
		"B074": TestHalfAThought,
		"B075": TestThoughtIsRefused,
		"B077": TestThoughtIsRefused,
		"B078": TestThoughtBesideACall,
		"B079": TestThoughtBesideACall,
		"B081": TestThoughtAlone,
		"B082": TestThoughtAlone,
		"B083": TestThoughtAlone,
		"B085": TestHistoryOfAContinuation,
		"B086": TestDialectIsNotGuessed,
		"B087": TestHistoryOfAContinuation,
		"B089": TestHistoryOfAContinuation,
		"B090": TestHistoryOfAContinuation,
		"B091": TestHistoryOfAContinuation,
		"B093": TestPromptIsNoInstruction,
		"B094": TestPromptIsNoInstruction,
		"B095": TestNothingToContinue,
		"B097": TestPromptIsNoInstruction,
		"B098": TestStructuredOutput,
		"B099": TestRetryAfter,
		"B101": TestRetryAfter,
		"B102": TestStorm,
		"B103": TestStorm,
		"B105": TestRefusals,
		"B106": TestRecoveryIsOnUnlessItIsOff,
		"B107": TestRecoveryIsOnUnlessItIsOff,
		"B109": TestRecoveryIsOnUnlessItIsOff,
		"B110": TestRecoveryIsOnUnlessItIsOff,
		"B111": TestCostCap,
		"B113": TestBreakerAndTheCaller,
		"B114": TestBreakerAndTheCaller,
		"B115": TestBreakerAndTheCaller,
		"B117": TestRefusals,
		"B118": TestSilence,
		"B119": TestSilence,
		"B121": TestSilence,
		"B122": TestSilence,
		"B123": TestSilence,
		"B125": TestCancelled,
		"B126": TestCancelled,
		"B127": TestCancelled,
		"B129": TestNothingIsLeft,
		"B130": TestNothingIsLeft,
		"B131": TestNothingIsLeft,
		"B133": TestControlOfTheFramework,
		"B134": TestGivenUpIsNoEnd,
		"B135": TestGivenUpIsNoEnd,
		"B137": TestUsage,
		"B138": TestUsage,
		"B139": TestUsage,
		"B141": TestUsage,
		"B142": TestUsage,
		"B143": TestForeignCheckpoint,
		"B145": TestForeignCheckpoint,
		"B146": TestRivals,
		"B147": TestRivals,
		"B149": TestRivals,
		"B150": TestTakeOver,
		"B151": TestOnlyTheRestIsAskedFor,
		"B153": TestTakeOver,
		"B154": TestTextInFrontOfACall,
		"B155": TestEmptyStream,
		"B157": TestOneStreamOfAnAgent,
		"B158": TestEveryErrorAtEveryPlace,
		"B159": TestEveryErrorAtEveryPlace,
		"B161": TestEveryErrorAtEveryPlace,
		"B162": TestEveryErrorAtEveryPlace,
		"B163": TestAfterTheLastAttempt,
		"B165": TestEveryErrorAtEveryPlace,
		"B166": TestEveryErrorAtEveryPlace,
		"B167": TestTextInFrontOfACall,
		"B169": TestContinuationStreams,
		"B170": TestEveryErrorAtEveryPlace,
	}
}

// TestEveryReport: each report is played by the test that is named for it, or the docs say why a decorator cannot act on it.
func TestEveryReport(t *testing.T) {
	t.Parallel()
	label := regexp.MustCompile(`\bB\d{3}\b`)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "out-of-reach.md"))
	require.NoError(t, err)
	outOfReach := map[string]bool{}
	for _, id := range label.FindAllString(string(page), -1) {
		outOfReach[id] = true
	}
	played := labelsByTest(t)
	covered := coverage()
	all := label.FindAllString(reports, -1)
	assert.True(t, slices.IsSorted(all), "in order")
	assert.Len(t, slices.Compact(slices.Clone(all)), len(all), "each once")
	for _, id := range all {
		test, is := covered[id]
		assert.NotEqual(t, is, outOfReach[id], "%s: either a test or a reason", id)
		if is {
			assert.Contains(t, played[nameOf(test)], id, "%s does not play it", nameOf(test))
		}
	}
	for id := range outOfReach {
		assert.Contains(t, all, id, "the docs speak of it")
	}
	for id := range covered {
		assert.Contains(t, all, id, "a test plays it")
	}
	for name, ids := range played {
		for _, id := range ids {
			assert.Contains(t, all, id, "%s plays it", name)
		}
	}
}

func nameOf(test func(*testing.T)) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()

	return name[strings.LastIndexByte(name, '.')+1:]
}

// labelsByTest returns the labels that the names of each test's subtests begin with. A label stands behind a comment with
// the address of its report, in the same test.
func labelsByTest(t *testing.T) map[string][]string {
	t.Helper()
	label := regexp.MustCompile(`^B\d{3} `)
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	out, set := map[string][]string{}, token.NewFileSet()
	for _, file := range files {
		parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			test, is := decl.(*ast.FuncDecl)
			if !is || !strings.HasPrefix(test.Name.Name, "Test") || test.Name.Name == "TestEveryReport" {
				continue
			}
			sources := map[string]bool{}
			ast.Inspect(test, func(n ast.Node) bool {
				text, is := n.(*ast.BasicLit)
				if !is || text.Kind != token.STRING {
					return true
				}
				s, err := strconv.Unquote(text.Value)
				require.NoError(t, err)
				if id := strings.TrimSpace(label.FindString(s)); id != "" && !slices.Contains(out[test.Name.Name], id) {
					source := sourceBefore(parsed, test.Pos(), text.Pos())
					assert.NotEmpty(t, source, "%s: %s has no source", test.Name.Name, id)
					assert.False(t, sources[source], "%s: the source of %s is another one's", test.Name.Name, id)
					sources[source] = true
					out[test.Name.Name] = append(out[test.Name.Name], id)
				}

				return true
			})
		}
	}

	return out
}

// sourceBefore returns the last comment with an address between two places of a file.
func sourceBefore(file *ast.File, from, to token.Pos) (last string) {
	for _, c := range file.Comments {
		if c.Pos() > from && c.End() < to && strings.Contains(c.Text(), "https://") {
			last = c.Text()
		}
	}

	return last
}
