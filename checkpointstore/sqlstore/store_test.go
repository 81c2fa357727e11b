package sqlstore_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
)

// The tests with databases are in the module sqltest, which keeps their drivers out of this one.

type noDriver struct{}

func (noDriver) Open(string) (driver.Conn, error) { return nil, errors.New("no database in this test") }

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	sql.Register("none", noDriver{})
	db, err := sql.Open("none", "")
	require.NoError(t, err)
	_, err = sqlstore.New(nil, sqlstore.SQLite)
	require.Error(t, err)
	_, err = sqlstore.New(db, 0)
	require.Error(t, err)
	for _, name := range []string{"", "Upper", "a b", "a;b", `a"b`, "a.b.c", ".a", "a.", "1a", "é", strings.Repeat("x", 51)} {
		_, err = sqlstore.New(db, sqlstore.SQLite, sqlstore.WithTable(name))
		require.Error(t, err, "%q", name)
	}
	for _, name := range []string{"a", "_a1", "schema.table", strings.Repeat("x", 50)} {
		_, err = sqlstore.New(db, sqlstore.SQLite, sqlstore.WithTable(name))
		require.NoError(t, err, "%q", name)
	}
	assert.Equal(t, "sqlite postgresql unknown", sqlstore.SQLite.String()+" "+sqlstore.PostgreSQL.String()+" "+sqlstore.Dialect(9).String())
}
