package main

import "github.com/eino-carryon/carryon/internal/faultllm"

const (
	instruction = "You are a terse engineer. Look facts up with read_file and compute with calculator; do not guess."

	priceList = "examples/eino-agent/prices.csv"
	largeSum  = "40000 * 15 / 1000000"
	smallSum  = "40000 * 2 / 1000000"
)

// The names of the scripted answers, under which faults are planned.
const (
	answerCauses  = "causes"
	answerPolite  = "polite"
	answerSilence = "silence"
	answerLookup  = "lookup"
	answerPrices  = "prices"
	answerCompute = "compute"
	answerCost    = "cost"
	answerAgain   = "again"
	answerVerdict = "verdict"
)

// questions are what the user asks, turn by turn.
func questions() []string {
	return []string{
		"Why do streamed answers break at all?",
		"And if the connection closes politely, as if all were well?",
		"What if nothing comes any more, not even an error?",
		"What do tokens cost here? Look it up in " + priceList + ".",
		"What do 40,000 output tokens cost on each model?",
		"So: continue a broken answer, or start over?",
	}
}

// script is what the embedded provider answers. Each turn is found by the question or the tool result that it answers. An
// agent that ran only the first of two calls meets the answer that makes the second call again; one that ran both does
// not, since the answer to the second result stands before it.
func script() faultllm.Script {
	q := questions()
	turn := func(says, name string, parts ...faultllm.Part) faultllm.Turn {
		return faultllm.Turn{Says: says, Answer: faultllm.Answer{Name: name, Parts: parts}}
	}

	return faultllm.Script{
		turn(q[0], answerCauses,
			faultllm.Think("They ask for causes, not for a lecture. Name the usual ones and say why length matters."),
			faultllm.Say("A streamed answer is one long HTTP response that stays open for as long as the model writes. Anything in "+
				"between can end it early: a gateway that is redeployed, a balancer that closes what it thinks is idle, a "+
				"worker that runs out of memory, a laptop that changes networks. None of them is rare. The longer the answer, "+
				"the likelier one of them comes before the last word.")),
		turn(q[1], answerPolite,
			faultllm.Say("Then it is worse, because nothing looks wrong. The body ends in good order and the client reads an "+
				"ordinary end of file. All that tells half an answer from a whole one is what did not come: the finish reason. "+
				"A program that does not look for it stores the half and calls it done.")),
		turn(q[2], answerSilence,
			faultllm.Think("Stalls. An idle limit is the answer, and it must not punish a slow reader."),
			faultllm.Say("Then only a clock can tell. A limit on the silence between two pieces finds the stall, provided that "+
				"it counts the provider's silence and not the reader's, and that comments which only keep the connection "+
				"alive do not reset it. After that the request is left, and the rest is asked for.")),
		turn(q[3], answerLookup,
			faultllm.Say("I will look into the price list."),
			faultllm.Call("call_prices", "read_file", `{"path": "`+priceList+`"}`)),
		turn(priceList+":", answerPrices,
			faultllm.Say("In USD per million tokens: large-1 takes 3.00 for input and 15.00 for output, small-1 takes 0.50 and "+
				"2.00. On both, a token that is written costs several times what one that is read does.")),
		turn(q[4], answerCompute,
			faultllm.Say("Two multiplications."),
			faultllm.Call("call_large", "calculator", `{"expression": "`+largeSum+`"}`),
			faultllm.Call("call_small", "calculator", `{"expression": "`+smallSum+`"}`)),
		turn(smallSum, answerCost,
			faultllm.Say("40,000 output tokens cost 0.60 USD on large-1 and 0.08 USD on small-1. Written twice, because the "+
				"stream broke near the end and someone started over, they cost nearly double.")),
		turn(largeSum, answerAgain,
			faultllm.Say("The second call was cut off; once more."),
			faultllm.Call("call_small_again", "calculator", `{"expression": "`+smallSum+`"}`)),
		turn(q[5], answerVerdict,
			faultllm.Think("Weigh it: what was written is paid for and, worse, already on the reader's screen. But half a thought "+
				"cannot be sent back, so a break while thinking does mean starting over. Say both."),
			faultllm.Say("Continue. What has been written is paid for, and the reader has read it: a second version can "+
				"neither take it back nor be trusted to agree with it. Only where nothing was said yet, in the middle of a "+
				"thought, is starting over the right thing, and then nobody notices.")),
	}
}
