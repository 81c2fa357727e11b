// Package checkpointstore says what a store of checkpoints is: where a run's unfinished answer is kept, so that another
// process can go on with it after this one died. It holds the contract (Store, Checkpoint), the order of writers
// (Fence), the rules for keys (ValidateRunID), what a method checks first (Begin) and the format (Encode). The stores are
// in the packages below:
//
//	package     for                                      outlives                  shared by            forgets by
//	memstore    tests; runs that end with their process  nothing                   one process          DeleteOlderThan
//	filestore   one machine, or a volume with locks      a power cut               processes on it      DeleteOlderThan
//	sqlstore    where SQLite or PostgreSQL runs already  what the database does    all who reach it     DeleteOlderThan
//	redisstore  many short runs, of which one may go     what it is configured to  all who reach it     WithTTL
//	natsstore   where JetStream runs already             what its replicas do      all who reach it     the bucket's TTL
//	einostore   one store for Eino's checkpoints too     what that store does      all who reach it     what that store does
//	encrypted   when nobody there may read               as the store below it     as the store below   as the store below
//
// A store of your own has three methods, and more if it can (ConditionalDeleter, Appender, Cleaner). Package storetest runs the whole contract against it.
//
// # What is stored
//
// Everything that is needed to go on: the answer so far, its reasoning and tool calls with their arguments, what the
// provider wants back, and a hash of the request. The request itself is not stored, but an answer quotes it. Whoever can
// read the store can read this, so give it the rights and the life of what it holds: a directory of its own, a
// database role, a TTL; or put package encrypted before it, which leaves run id, owner, fence, time and size visible.
// Run ids are keys and appear in errors: keep names and secrets out of them.
//
// The checksums find damage, not a forger. Whoever can write to the store can change an answer and the sums with it: it is
// then delivered and sent to the model as its own, and its tool calls run. No plain store can tell. Package encrypted refuses
// what was not sealed with a key of its own; only an older checkpoint of the same run, put back as it was, passes there.
//
// # What a fence can and cannot do
//
// A store refuses the Put and the DeleteIf of a writer that was taken over, so that of two processes that believe in a
// run one wins. It does not stop the loser from what it does elsewhere: until its next Put it goes on delivering its
// answer, it has paid for it, and a tool that it called has been called. Tools that must not act twice need a key of
// their own; the id of the tool call, which survives a takeover, is one.
//
// A fence lives in its checkpoint. When that is deleted or has expired, nothing tells an old writer from a new one, and a
// Put of the old one is stored; its Fingerprint and the time to live bound the harm. A store that acknowledges before
// its replicas have the write (Redis) can forget a claim in a failover. einostore compares and writes in one step inside a
// process only.
//
// # How often, how large
//
// A Put holds the whole checkpoint: an answer of a megabyte that is put four times a second writes that many megabytes.
// Writers space their Puts by time and by size. A store that is an Appender takes what came since as a Delta, so that
// a long answer can be written as often as a short one; its checkpoint is then a chain, the whole and the deltas behind it,
// of which half a link is worth nothing. An encoded checkpoint has at most MaxBytes, with its deltas; what a server takes may
// be less.
package checkpointstore
