// Package faultmodel is a scripted Eino chat model that breaks on purpose.
//
// A test reads as a transcript: each request that reaches the model is answered by the next script, and a script is
// the list of what the reader sees.
//
//	m := faultmodel.New(
//		faultmodel.Script{faultmodel.Text("Hel"), faultmodel.Reset()},
//		faultmodel.Script{faultmodel.Text("lo"), faultmodel.Finish("stop")},
//	)
//
// [Continuer] is a model that has one answer and continues it from wherever a request leaves it; it tells whether a
// chain of broken attempts adds up to the unbroken answer, and what each of them was billed.
//
// The model uses channels, mutexes and timers only, so it works in a testing/synctest bubble. Everything that a test
// reads afterwards (requests, what was sent, cancelled, closed and billed) is recorded; see [Request].
//
// Each open attempt has two goroutines. One plays the script: it ends when the script does, when the context ends
// or when it sees, at its next chunk, that the reader was closed. The other waits for the reader's Close, so a reader
// that nobody closes is a goroutine that a leak check finds.
package faultmodel
