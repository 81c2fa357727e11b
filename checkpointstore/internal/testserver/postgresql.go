//go:build unix

package testserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// PostgreSQL starts a PostgreSQL server of its own, with the superuser and database "postgres" and no password. args
// are added to its command line. The error is ErrMissing, wrapped, if there is none.
//
// PostgreSQL refuses to run as root: then it runs as the user postgres, whom its packages create.
func PostgreSQL(args ...string) (*Server, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "carryon-postgres-")
	if err != nil {
		return nil, err
	}
	prepare, err := unprivileged(dir)
	if err == nil {
		err = initdb(bin, dir, prepare)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}

	return launch(dir, "INT", prepare, func(port string) []string {
		return append([]string{filepath.Join(bin, "postgres"), "-D", dir, "-h", "127.0.0.1", "-p", port, "-k", dir}, args...)
	}, func(ctx context.Context, addr string) error {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return err
		}

		return exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-q", "-h", host, "-p", port, "-t", "5").Run()
	})
}

// postgresBin finds the programs of the newest version: Debian does not put them into the path.
func postgresBin() (string, error) {
	if program, err := exec.LookPath("initdb"); err == nil {
		if program, err = filepath.EvalSymlinks(program); err == nil {
			return filepath.Dir(program), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%w: initdb is neither in the path nor below /usr/lib/postgresql", ErrMissing)
	}

	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

func version(initdb string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	if err != nil {
		return 0
	}

	return n
}

// unprivileged gives dir to the user that the server is to run as, and returns what makes a command run so.
func unprivileged(dir string) (func(*exec.Cmd), error) {
	if os.Getuid() != 0 {
		return nil, nil // nothing is to be changed
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid))); err != nil {
		return nil, err
	}

	return func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}, nil
}

func initdb(bin, dir string, prepare func(*exec.Cmd)) error {
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir = dir
	if prepare != nil {
		prepare(cmd)
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, output)
	}

	return nil
}
