// Package filestore keeps checkpoints as files in one directory, which the processes of one machine may share.
//
// A run has one file, named by a hash of its id, which is also inside and compared. It is replaced by writing a second
// one, syncing it, renaming it and syncing the directory: after a crash or a power cut at any point the old or the new
// checkpoint is there, whole. What such a crash leaves behind, the next New removes.
//
// An Append writes the delta behind what the file holds and syncs that: it costs what the delta costs, whatever the length of
// the checkpoint, and makes no file and syncs no directory. Half a delta that a crash leaves there, or other bytes in its place,
// has not been appended: readers see the checkpoint before it, and the next write is a Put.
//
// Writers exclude each other by locks on 64 empty files that stay in the directory; the system releases a lock when its
// process dies.
//
// The directory must be on a file system whose locks all its users see: a local one; of network file systems those
// with flock. It works on Unix systems that have flock, and on Windows; elsewhere writing is an error.
package filestore
