package memstore_test

import (
	"testing"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Benchmark(b, func(testing.TB) checkpointstore.Store { return memstore.New() })
}
