package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refusing is a database that lets nobody in for so many times.
type refusing struct {
	noting
	err   error
	times int
}

func (d *refusing) Connect(ctx context.Context) (driver.Conn, error) {
	if d.times--; d.times >= 0 {
		return nil, d.err
	}

	return d.noting.Connect(ctx)
}

// TestAFileThatOthersAreMaking: who comes while another process makes the file tries again, for half a second; other errors
// are told at once.
func TestAFileThatOthersAreMaking(t *testing.T) {
	t.Parallel()
	locked := errors.New("database is locked (5) (SQLITE_BUSY)")
	for name, tt := range map[string]struct {
		err     error
		times   int
		dialect Dialect
		fails   bool
		took    time.Duration
	}{
		"nobody is in the way": {locked, 0, SQLite, false, 0},
		"it is made":           {locked, 3, SQLite, false, 3 * connectPause},
		"it stays locked":      {locked, connects, SQLite, true, (connects - 1) * connectPause},
		"something else":       {errors.New("no such file"), 1, SQLite, true, 0},
		"not of SQLite":        {locked, 1, PostgreSQL, true, 0},
		"the context ends":     {locked, connects, SQLite, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := sql.OpenDB(&refusing{err: tt.err, times: tt.times})
				defer db.Close()
				s, err := New(db, tt.dialect)
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				want := tt.err
				if name == "the context ends" {
					time.AfterFunc(5*connectPause/2, cancel)
					want, tt.took = context.Canceled, 5*connectPause/2
				}
				began := time.Now()
				conn, err := s.connect(ctx)
				assert.Equal(t, tt.took, time.Since(began))
				if tt.fails {
					require.ErrorIs(t, err, want)
				} else {
					require.NoError(t, err)
					require.NoError(t, conn.Close())
				}
			})
		})
	}
}
