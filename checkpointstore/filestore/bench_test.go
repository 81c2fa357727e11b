package filestore_test

import (
	"testing"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Benchmark(b, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()

		return open(tb, tb.TempDir())
	})
}
