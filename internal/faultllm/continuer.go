package faultllm

import "unicode/utf8"

// Continuer is how faithfully the model goes on when a request carries a partial answer. The zero value is [Honest].
type Continuer struct {
	restart  bool
	preamble string
	repeat   int
}

// Honest goes on at exactly the byte where the partial answer ends.
func Honest() Continuer { return Continuer{} }

// Restarting sends the whole text again.
func Restarting() Continuer { return Continuer{restart: true} }

// Preamble says text first, then goes on honestly.
func Preamble(text string) Continuer { return Continuer{preamble: text} }

// Repeating sends the last n bytes of the partial answer again (a few more if they begin inside a rune), then goes on.
func Repeating(n int) Continuer { return Continuer{repeat: n} }

// start returns the byte of text at which the continuation of a partial answer begins.
func (c Continuer) start(text string, partial int) int {
	if c.restart {
		return 0
	}
	return runeStart(text, max(0, partial-c.repeat))
}

// runeStart moves i back to the first byte of the rune that it is in.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
