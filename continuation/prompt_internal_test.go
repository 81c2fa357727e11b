package continuation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The words by which a refrain shows its place stand in the text once, and only where a refrain may begin.
func TestLastWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " \n": "", "Short.": "",
		"It was late. Nobody knew where the boats had been.": "where the boats had been.",
		"It was late. Nobody knew where the boats had been":  "",
		"Nobody knew where the boats had been\n":             "where the boats had been",
		"Nobody knew where the boats had been, \n":           "where the boats had been,",
		"One.\nTwo.\n": "",
		"The boats had been there. The boats had been there.": "",
		"A: " + strings.Repeat("x", 300) + ".":                "",
		"那天晚上港口很安静。两条船很晚才回来。":                                 "那天晚上港口很安静。两条船很晚才回来。",
	} {
		assert.Equal(t, want, lastWords(text), "%q", text)
	}
}
