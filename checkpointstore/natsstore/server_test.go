package natsstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func startServer(tb testing.TB, maxPayload int32) *server.Server {
	tb.Helper()
	s := start(tb, &server.Options{MaxPayload: maxPayload})
	require.True(tb, s.ReadyForConnections(time.Minute))

	return s
}

func start(tb testing.TB, opts *server.Options) *server.Server {
	tb.Helper()
	opts.Host, opts.Port, opts.JetStream, opts.StoreDir, opts.NoLog, opts.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, tb.TempDir(), true, true
	s, err := server.NewServer(opts)
	require.NoError(tb, err)
	s.Start()
	tb.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})

	return s
}

// startCluster starts three servers that keep the data together.
func startCluster(tb testing.TB) []*server.Server {
	tb.Helper()
	var routes []*url.URL
	var ports []int
	for range 3 { // a server of a cluster wants to know the others before it starts
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(tb, err)
		addr, ok := l.Addr().(*net.TCPAddr)
		require.True(tb, ok)
		ports = append(ports, addr.Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: addr.String()})
		require.NoError(tb, l.Close())
	}
	var servers []*server.Server
	for i, port := range ports {
		servers = append(servers, start(tb, &server.Options{
			ServerName: fmt.Sprint("server-", i), MaxPayload: 16 << 20, Routes: routes,
			Cluster: server.ClusterOpts{Name: "cluster", Host: "127.0.0.1", Port: port},
		}))
	}
	for _, s := range servers {
		require.True(tb, s.ReadyForConnections(time.Minute))
	}

	return servers
}

// bucket opens a bucket over a connection of its own, and makes it if it is not there. Reads go to the one that leads
// its servers, as the package's documentation advises.
func bucket(tb testing.TB, s *server.Server, config jetstream.KeyValueConfig) jetstream.KeyValue {
	tb.Helper()
	_, kv := connect(tb, s, config)

	return kv
}

func connect(tb testing.TB, s *server.Server, config jetstream.KeyValueConfig) (jetstream.JetStream, jetstream.KeyValue) {
	tb.Helper()
	conn, err := nats.Connect(s.ClientURL())
	require.NoError(tb, err)
	tb.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(time.Minute)) // on a busy machine
	require.NoError(tb, err)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for { // a cluster may still be choosing who leads
		ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Second) // what was asked before that gets no answer
		kv, err := open(ctx, js, config)
		if err == nil && config.Replicas > 1 {
			_, err = kv.Put(ctx, "probe", nil)
		}
		cancel()
		if err == nil {
			return js, kv
		}
		require.NoError(tb, tb.Context().Err(), "%v", err)
		<-tick.C
	}
}

func open(ctx context.Context, js jetstream.JetStream, config jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	kv, err := js.KeyValue(ctx, config.Bucket)
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return kv, err
	}
	if _, err := js.CreateOrUpdateKeyValue(ctx, config); err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, "KV_"+config.Bucket)
	if err != nil {
		return nil, err
	}
	direct := stream.CachedInfo().Config
	direct.AllowDirect = false
	if _, err := js.UpdateStream(ctx, direct); err != nil {
		return nil, err
	}

	return js.KeyValue(ctx, config.Bucket)
}
