package testserver_test

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/internal/testserver"
)

func TestServersStartAndStop(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(...string) (*testserver.Server, error){"redis": testserver.Redis, "postgresql": testserver.PostgreSQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testserver.Need(t, start)
			conn, err := net.Dial("tcp", s.Addr)
			require.NoError(t, err)
			conn.Close()
			require.NoError(t, s.Stop())
			_, err = net.Dial("tcp", s.Addr)
			require.Error(t, err, "it still listens")
			assert.NoDirExists(t, s.Dir)
			require.NoError(t, s.Stop(), "again")
		})
	}
}

func TestServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	s, err := testserver.Redis("--no-such-option", "1")
	if errors.Is(err, testserver.ErrMissing) && os.Getenv("CI") == "" {
		t.Skipf("Redis is not installed here; CI fails without it: %v", err)
	}
	require.ErrorContains(t, err, "no-such-option")
	assert.Nil(t, s)
}
