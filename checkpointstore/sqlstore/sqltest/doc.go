// Package sqltest tests package sqlstore with real databases. It is a module of its own, so that their drivers stay out
// of the core's requirements.
package sqltest
