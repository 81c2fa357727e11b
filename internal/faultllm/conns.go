package faultllm

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// conns counts the open connections.
type conns struct {
	mu      sync.Mutex
	open    int
	changed chan struct{} // closed at the next change
}

func newConns() *conns { return &conns{changed: make(chan struct{})} }

// track is the server's ConnState hook.
func (c *conns) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.add(1)
	case http.StateClosed, http.StateHijacked:
		c.add(-1)
	case http.StateActive, http.StateIdle:
	}
}

func (c *conns) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += n
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *conns) wait(ctx context.Context, n int) error {
	for {
		c.mu.Lock()
		open, changed := c.open, c.changed
		c.mu.Unlock()
		if open <= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
