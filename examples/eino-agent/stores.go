package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite" // the driver of SQLite

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/checkpointstore/natsstore"
	"github.com/eino-carryon/carryon/checkpointstore/redisstore"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
)

const (
	storeName    = "carryon-eino-agent"
	storeTimeout = 5 * time.Second // to reach a server
)

// storeKind is a kind of store, and how one is opened. The returned function lets go of what was opened.
type storeKind struct {
	name     string
	variable string // of the environment, with the address; empty if it needs no server
	fallback string // the address, if nobody says another
	open     func(ctx context.Context, address string) (checkpointstore.Store, func() error, error)
}

func storeKinds() []storeKind {
	return []storeKind{
		{"sqlite", "", filepath.Join(os.TempDir(), storeName+".db"), openSQLite},
		{"file", "", filepath.Join(os.TempDir(), storeName), openFiles},
		{"redis", "REDIS_ADDR", "localhost:6379", openRedis},
		{"nats", "NATS_URL", nats.DefaultURL, openNATS},
		{"postgres", "DATABASE_URL", "postgres://localhost/postgres", openPostgres},
	}
}

func storeNames() []string {
	var names []string
	for _, k := range storeKinds() {
		names = append(names, k.name)
	}

	return names
}

// openStore opens the store that the settings name.
func (p program) openStore(ctx context.Context, set settings) (checkpointstore.Store, func() error, error) {
	for _, k := range storeKinds() {
		if k.name != set.checkpoint {
			continue
		}
		address := cmp.Or(set.store, p.getenv(k.variable), k.fallback)
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		s, closer, err := k.open(ctx, address)
		switch {
		case err == nil:
			return s, closer, nil
		case k.variable == "":
			return nil, nil, fmt.Errorf("%s: the store cannot be opened: %w", k.name, err)
		default:
			return nil, nil, fmt.Errorf("%s: the server cannot be reached; --store or %s says where it is: %w", k.name, k.variable, err)
		}
	}

	return nil, nil, fmt.Errorf("unknown store %q: it is one of %s", set.checkpoint, strings.Join(storeNames(), ", "))
}

func openFiles(_ context.Context, dir string) (checkpointstore.Store, func() error, error) {
	s, err := filestore.New(dir)

	return s, func() error { return nil }, err
}

func openSQLite(ctx context.Context, path string) (checkpointstore.Store, func() error, error) {
	return openSQL(ctx, "sqlite", "file:"+path+"?_pragma=busy_timeout(500)&_pragma=journal_mode(wal)", sqlstore.SQLite)
}

func openPostgres(ctx context.Context, url string) (checkpointstore.Store, func() error, error) {
	return openSQL(ctx, "pgx", url, sqlstore.PostgreSQL)
}

func openSQL(ctx context.Context, driver, dsn string, dialect sqlstore.Dialect) (checkpointstore.Store, func() error, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, nil, err
	}
	s, err := sqlstore.New(db, dialect)
	if err == nil {
		err = s.Migrate(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}

	return s, db.Close, nil
}

func openRedis(ctx context.Context, address string) (checkpointstore.Store, func() error, error) {
	client := redis.NewClient(&redis.Options{Addr: address, ContextTimeoutEnabled: true, MaxRetries: -1})
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}

	return redisstore.New(client, redisstore.WithTTL(24*time.Hour)), client.Close, nil
}

func openNATS(ctx context.Context, url string) (checkpointstore.Store, func() error, error) {
	conn, err := nats.Connect(url, nats.Timeout(storeTimeout))
	if err != nil {
		return nil, nil, err
	}
	closer := func() error { conn.Close(); return nil }
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, nil, errors.Join(err, closer())
	}
	if _, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: storeName, TTL: 24 * time.Hour}); err != nil {
		return nil, nil, errors.Join(err, closer())
	}
	s, err := natsstore.NewAppendStore(ctx, js, storeName)
	if err != nil {
		return nil, nil, errors.Join(err, closer())
	}

	return s, closer, nil
}
