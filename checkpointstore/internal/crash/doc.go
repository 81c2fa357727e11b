// Package crash holds tests that kill and stop processes in the middle of their answers.
package crash
