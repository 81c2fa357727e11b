package main

import "github.com/eino-carryon/carryon/internal/faultllm"

// bill counts tokens: out are those that the model wrote, in those that it was sent.
type bill struct{ out, in int }

func (b bill) plus(c bill) bill { return bill{b.out + c.out, b.in + c.in} }

// billed adds up what a provider billed for these requests.
func billed(records []faultllm.Record) bill {
	var b bill
	for _, r := range records {
		b = b.plus(bill{r.Completion, r.Prompt})
	}

	return b
}

// restartBill is what the requests would have cost if each answer that broke had been asked for from its start again,
// until it came whole, breaking at the same bytes. Unbroken holds the requests of the same conversation without a break.
// A break in a request that a restart would not have made costs it nothing.
func restartBill(records, unbroken []faultllm.Record) bill {
	sent := make(map[int]int) // tokens of the request, by the answer's place in the script
	for _, r := range unbroken {
		sent[r.Turn] = r.Prompt
	}
	b := billed(unbroken)
	written := make(map[int]int) // how far the answer had come
	for _, r := range records {
		prompt, asked := sent[r.Turn]
		if r.Prompt == 0 || !asked { // a refusal bills nothing
			continue
		}
		if !r.Continued {
			written[r.Turn] = 0
		}
		written[r.Turn] += r.Completion
		if r.FaultHit {
			b = b.plus(bill{written[r.Turn], prompt})
		}
	}

	return b
}
