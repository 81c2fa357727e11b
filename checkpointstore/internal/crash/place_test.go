//go:build unix

package crash

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/checkpointstore/internal/testserver"
	"github.com/eino-carryon/carryon/checkpointstore/natsstore"
	"github.com/eino-carryon/carryon/checkpointstore/redisstore"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
)

// place is where checkpoints are kept: what a process needs to open a store there.
type place struct{ Kind, Address string }

// open opens the store.
func (p place) open(ctx context.Context) (checkpointstore.Store, error) {
	switch p.Kind {
	case "file":
		return filestore.New(p.Address)
	case "sqlite":
		return openSQL(ctx, "sqlite", p.Address, sqlstore.SQLite)
	case "postgres":
		return openSQL(ctx, "pgx", p.Address, sqlstore.PostgreSQL)
	case "redis":
		return redisstore.New(redis.NewClient(&redis.Options{Addr: p.Address, ContextTimeoutEnabled: true})), nil
	case "nats":
		return openNATS(ctx, p.Address)
	default:
		return nil, errors.New("no such store: " + p.Kind)
	}
}

func openSQL(ctx context.Context, driver, dsn string, dialect sqlstore.Dialect) (checkpointstore.Store, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8) // PostgreSQL takes a hundred, SQLite writes on one at a time
	db.SetMaxIdleConns(8) // the default of 2 would open a connection for most writes
	s, err := sqlstore.New(db, dialect)
	if err != nil {
		return nil, err
	}

	return s, s.Migrate(ctx)
}

func openNATS(ctx context.Context, address string) (checkpointstore.Store, error) {
	conn, err := nats.Connect(address)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	if _, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "runs"}); err != nil {
		return nil, err
	}

	return natsstore.NewAppendStore(ctx, js, "runs")
}

// places starts what each store needs.
func places() map[string]func(testing.TB) place {
	return map[string]func(testing.TB) place{
		"file": func(tb testing.TB) place {
			tb.Helper()

			return place{"file", tb.TempDir()}
		},
		"sqlite": func(tb testing.TB) place {
			tb.Helper()

			return place{"sqlite", "file:" + filepath.Join(tb.TempDir(), "db") + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"}
		},
		"postgres": func(tb testing.TB) place {
			tb.Helper()
			s := testserver.Need(tb, testserver.PostgreSQL, "-c", "fsync=off")

			return place{"postgres", "postgres://postgres@" + s.Addr + "/postgres?sslmode=disable"}
		},
		"redis": func(tb testing.TB) place {
			tb.Helper()

			return place{"redis", testserver.Need(tb, testserver.Redis).Addr}
		},
		"nats": startNATS,
	}
}

func startNATS(tb testing.TB) place {
	tb.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: tb.TempDir(), NoSigs: true})
	require.NoError(tb, err)
	s.Start()
	tb.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	require.True(tb, s.ReadyForConnections(patience))

	return place{"nats", s.ClientURL()}
}

// each runs test with every store.
func each(t *testing.T, test func(*testing.T, place, checkpointstore.Store)) {
	t.Helper()
	for name, start := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := start(t)
			s, err := at.open(t.Context())
			require.NoError(t, err)
			test(t, at, s)
		})
	}
}
