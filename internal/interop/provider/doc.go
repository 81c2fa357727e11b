// Package provider holds tests only: what each real client makes of errors, waits, thoughts and prefills, one subject a
// file.
package provider
