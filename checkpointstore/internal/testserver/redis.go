package testserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
)

// Redis starts a redis-server. args are added to its command line. The error is ErrMissing, wrapped, if there is none.
func Redis(args ...string) (*Server, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	dir, err := os.MkdirTemp("", "carryon-redis-")
	if err != nil {
		return nil, err
	}

	return launch(dir, "TERM", nil, func(port string) []string {
		return append([]string{program, "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--daemonize", "no"}, args...)
	}, redisAnswers)
}

func redisAnswers(ctx context.Context, addr string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // only asked a question
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && answer != "+PONG\r\n" {
		err = fmt.Errorf("it answers %q", answer)
	}

	return err
}
