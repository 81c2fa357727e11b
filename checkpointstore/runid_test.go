package checkpointstore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	cs "github.com/eino-carryon/carryon/checkpointstore"
)

func TestValidateRunID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"a", "run-7/a1b2c3d4", "..", "../../etc/passwd", ".", "/", `C:\con`, "with space", "*>%_'\";--", "{tag}", "日本語", "🙂",
		strings.Repeat("x", cs.MaxRunIDBytes),
	} {
		require.NoError(t, cs.ValidateRunID(id), "%q", id)
	}
	for _, id := range []string{
		"", "\x00", "a\x00b", "line\nbreak", "tab\t", "\x7f", "\u0085", "\xff", "half \xf0\x9f",
		strings.Repeat("x", cs.MaxRunIDBytes+1), strings.Repeat("x", 10_000),
	} {
		require.ErrorIs(t, cs.ValidateRunID(id), cs.ErrInvalidRunID, "%q", id)
	}
}
