// Package interop holds tests only: the real provider clients of eino-ext, over real sockets, against a provider that
// breaks its streams on purpose. It is a module of its own, so that those clients stay out of the core's go.mod.
package interop
