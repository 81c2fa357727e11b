// Package checkpointstore says what a store of checkpoints is: where a run's unfinished answer is kept, so that another
// process can go on with it after this one died. The stores are in the packages below; this one has the contract
// (Store, Checkpoint), the order of writers (Fence), the rules for keys (ValidateRunID) and the format (Encode).
package checkpointstore
