// Package natsstore keeps checkpoints in a key-value bucket of NATS JetStream.
//
//	js, err := jetstream.New(conn)
//	…
//	_, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "checkpoints", TTL: 24 * time.Hour})
//	…
//	store, err := natsstore.NewAppendStore(ctx, js, "checkpoints")
//
// An AppendStore adds what came since to what is there (checkpointstore.Appender). Store, which New makes of a
// KeyValue, writes the whole each time: for servers before 2.11. They keep a run under different keys, so all that share a
// bucket use one of the two.
//
// With a Store a run is one key: "run." and the run id in base64 (URL alphabet), as a key may not hold every character. A
// history above 1, the default, keeps earlier checkpoints for nobody. How long a checkpoint lives after its last Put is
// the bucket's TTL. A delete leaves a marker in the bucket, which the TTL or KeyValue.PurgeDeletes takes away.
//
// What is put is one message: it must fit the server's max_payload, which is 1 MB unless its configuration says
// otherwise, the bucket's MaxValueSize and its MaxBytes. For answers of up to 8 MiB set max_payload to 16 MB. What is
// larger than max_payload is checkpointstore.ErrTooLarge. Where a context has no deadline the client's timeout ends a
// call: 5 s, unless jetstream.WithDefaultTimeout says otherwise.
//
// # What is added
//
// With an AppendStore the whole is under that key and ".whole", and each delta is a message of its own, under ".add." and
// the two sequences between which it leads. An Append sends one message as long as the delta, which the server stores
// and passes on to its replicas, whatever the length of what is there. So only the whole and each delta must fit
// max_payload, not all of them together.
//
// The server stores a delta only if the whole is still the one that it was made for, in one step; it needs version 2.11
// for that. An older one refuses: Append is checkpointstore.ErrNoBase, so a writer puts the whole each time, at the price
// of some requests in vain. The deltas of one writer (an owner in its epoch) are kept in order by its store: a run is
// written through one AppendStore of its owner. When a write there has failed and may still come, the next Append is
// ErrNoBase.
//
// A Get is one round trip if nothing was added. Otherwise it makes a consumer in the server, which gives 64 messages a
// round trip, and removes it. The user of the connection needs the right to do so, and to purge: a Put over a chain, and
// a delete, clear its deltas away with a second request. If that fails they stay until the next Put or delete or until
// their TTL, and nobody reads them; a delete then returns the error.
//
// A bucket's TTL counts from each message, so it takes the whole before what was added to it. An Append puts the whole
// again when a quarter of the TTL has passed since that was put, so a checkpoint lives for at least three quarters of the
// TTL after the last Append. NewAppendStore asks for the TTL, once. Of a whole that it did not put itself the store knows
// the age by the clocks of program and server. A whole that with its deltas is larger than max_payload cannot be put
// again: it lives for the TTL after its Put.
//
// # Replicas
//
// A bucket with replicas is read from any of them, and that one may be behind: a Get may return the checkpoint before
// the last one, and a claim may come back as stale although it is not. Fencing holds all the same, since the server
// compares revisions where it writes. For a Get that sees every Put, switch off direct reads:
//
//	stream, err := js.Stream(ctx, "KV_checkpoints")
//	…
//	config := stream.CachedInfo().Config
//	config.AllowDirect = false
//	_, err = js.UpdateStream(ctx, config)
//	…
//	store, err := natsstore.NewAppendStore(ctx, js, "checkpoints") // knows, as it comes after that
package natsstore
