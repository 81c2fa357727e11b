package faultllm

// Plan says what breaks. It is asked once for each request that is valid and has an answer, before anything is sent,
// and from many goroutines at once. A nil plan breaks nothing.
type Plan func(Arrival) Fault

// Arrival is what a plan knows of a request.
type Arrival struct {
	// N numbers the requests of the server from 0, in order of arrival. Refused ones count.
	N int
	// Turn is the index of the answer in the script, Name its name.
	Turn int
	Name string
	// Attempt numbers the requests for this answer in this conversation from 0. Refused ones do not count.
	Attempt int
	// Continued says that the request carries a partial answer.
	Continued bool
	Request   Request
}

// InOrder breaks request n with fault n, and none after the last fault.
func InOrder(faults ...Fault) Plan {
	return func(a Arrival) Fault { return nth(faults, a.N) }
}

// Every breaks every request in the same way.
func Every(f Fault) Plan {
	return func(Arrival) Fault { return f }
}

// ByAttempt breaks attempt n of every answer with fault n, and none after the last fault.
func ByAttempt(faults ...Fault) Plan {
	return func(a Arrival) Fault { return nth(faults, a.Attempt) }
}

// ByAnswer is [ByAttempt] with faults of its own for each answer, found by its name. The map must not change.
func ByAnswer(faults map[string][]Fault) Plan {
	return func(a Arrival) Fault { return nth(faults[a.Name], a.Attempt) }
}

func nth(faults []Fault, n int) Fault {
	if n < len(faults) {
		return faults[n]
	}
	return None()
}
