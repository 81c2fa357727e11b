package matrix

import (
	"slices"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
)

// fault is one way to break an answer at any place.
type fault struct {
	name string
	at   func(faultllm.Position) faultllm.Fault
	// once says that the fault has no place but the start.
	once bool
	// harmless says that the answer comes whole nevertheless.
	harmless bool
	// clean says that the body ends as a whole one does, so that a finish reason that came is passed on.
	clean bool
	// permanent says that the client's error goes to the caller.
	permanent bool
	// loses says that all comes but the finish reason.
	loses bool
	http2 bool
	// slow says that it takes long, so that it needs the fake clock.
	slow bool
	// form is that of an error inside the stream.
	form   faultllm.ErrorForm
	inBand bool
	// next is what becomes of the request that follows; nil: nothing breaks it. Refuses says that it refuses that request
	// for good.
	next    func() faultllm.Fault
	refuses bool
	// wait is what a refusal asks for.
	wait time.Duration
	// ask is what the caller asks; nil: what every cell asks.
	ask func(faultllm.Vendor) []*schema.Message
	// noPrefill says that the decorator is to continue by a prefill, and the provider refuses that.
	noPrefill bool
}

// happens says whether the fault can happen to a client at a place.
func (f fault) happens(c clients.Client, p place) bool {
	switch {
	case f.inBand && !slices.Contains(faultllm.ErrorForms(c.Vendor), f.form):
		return false
	case f.noPrefill && c.Vendor == faultllm.Ollama: // it refuses none: what its templates do not continue begins anew
		return false
	case f.inBand && p.name == beforeHeaders, f.once && !f.loses && p.name != beforeContent, f.loses && p.name != lastByte:
		return false
	case f.form == faultllm.FormFinishText || f.form == faultllm.FormFinishNumeric:
		return p.plus != "" // it carries a piece of text, and there must be one
	}

	return true
}

func faults() []fault {
	return slices.Concat(noFault(), connectionFaults(), bodyFaults(), lies(), slowFaults(), http2Faults(), statusFaults(),
		waitFaults(), refusalFaults(), inBandFaults())
}

func noFault() []fault {
	return []fault{{name: "none", harmless: true, once: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.None() }}}
}

func connectionFaults() []fault {
	return []fault{
		{name: "reset", at: faultllm.Reset},
		{name: "cut", at: faultllm.CutChunked},
		{name: "cut in a line", at: faultllm.CutLine},
		{name: "clean end", at: faultllm.CleanEnd, clean: true},
		{name: "clean end in a line", at: faultllm.CleanCutLine, clean: true},
		{name: "no finish reason", once: true, loses: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.NoFinish() }},
		{name: "empty body", once: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.EmptyBody() }},
	}
}

func bodyFaults() []fault {
	return []fault{
		{name: "malformed JSON", at: faultllm.MalformedJSON},
		{name: "20 keep-alives", harmless: true, at: func(p faultllm.Position) faultllm.Fault { return faultllm.KeepAlives(p, 20, 0) }},
		{name: "400 keep-alives", harmless: true, at: func(p faultllm.Position) faultllm.Fault { return faultllm.KeepAlives(p, 400, 0) }},
		{name: "20 comments", harmless: true, at: func(p faultllm.Position) faultllm.Fault { return faultllm.Comments(p, 20, 0) }},
		{name: "slow drip", harmless: true, at: func(p faultllm.Position) faultllm.Fault { return faultllm.SlowDrip(p, 0) }},
	}
}

// lies are answers that are whole and say something untrue about themselves.
func lies() []fault {
	return []fault{
		{name: "Content-Length 0", once: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.WrongLength(0) }},
		{name: "Content-Length too large", once: true, harmless: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.WrongLength(1 << 20) }},
		{name: "usage 0", once: true, harmless: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.FalseUsage(0, 0) }},
		{name: "usage too large", once: true, harmless: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.FalseUsage(1<<40, 1<<40) }},
		{name: "one index for all calls", once: true, harmless: true, at: func(faultllm.Position) faultllm.Fault { return faultllm.OneIndex() }},
	}
}

// slowFaults take minutes, of a fake clock. The silences that are healthy are shorter than every limit.
func slowFaults() []fault {
	return []fault{
		{name: "stall", slow: true, at: faultllm.Stall},
		{name: "stall, keep-alives", slow: true, at: func(p faultllm.Position) faultllm.Fault {
			return faultllm.StallKeepingAlive(p, time.Second)
		}},
		{name: "100 s of silence", slow: true, harmless: true, at: func(p faultllm.Position) faultllm.Fault {
			return faultllm.Pause(p, 100*time.Second)
		}},
	}
}

func http2Faults() []fault {
	all := []fault{
		{name: "HTTP/2: reset", http2: true, at: faultllm.Reset},
		{name: "HTTP/2: cut", http2: true, at: faultllm.CutChunked},
		{name: "HTTP/2: clean end", http2: true, clean: true, at: faultllm.CleanEnd},
	}
	for name, code := range map[string]uint32{
		"NO_ERROR": faultllm.H2NoError, "INTERNAL_ERROR": faultllm.H2InternalError, "CANCEL": faultllm.H2Cancel,
		"REFUSED_STREAM": faultllm.H2RefusedStream, "ENHANCE_YOUR_CALM": faultllm.H2EnhanceCalm,
	} {
		all = append(all, fault{name: "HTTP/2: RST_STREAM " + name, http2: true, at: func(p faultllm.Position) faultllm.Fault {
			return faultllm.ResetStream(p, code)
		}})
	}
	for name, code := range map[string]uint32{"NO_ERROR": faultllm.H2NoError, "INTERNAL_ERROR": faultllm.H2InternalError} {
		all = append(all, fault{name: "HTTP/2: GOAWAY " + name, http2: true, at: func(p faultllm.Position) faultllm.Fault {
			return faultllm.GoAway(p, code)
		}})
	}
	slices.SortStableFunc(all[3:], func(a, b fault) int { return len(a.name) - len(b.name) })

	return all
}

func inBandFaults() []fault {
	var all []fault
	for _, kind := range []string{"overloaded_error", "rate_limit_error", "timeout_error"} {
		all = append(all, fault{name: kind, inBand: true, at: func(p faultllm.Position) faultllm.Fault {
			return faultllm.InBandError(p, kind, "an error was encountered while running the model")
		}})
	}
	for _, form := range forms() {
		all = append(all, fault{name: "error: " + form.String(), inBand: true, form: form, at: func(p faultllm.Position) faultllm.Fault {
			return faultllm.InBandForm(p, form, "", "an error was encountered while running the model")
		}})
	}
	all = append(all, fault{name: "error without words", inBand: true, form: faultllm.FormUntyped, at: func(p faultllm.Position) faultllm.Fault {
		return faultllm.InBandForm(p, faultllm.FormUntyped, "", "it broke")
	}})
	for _, form := range []faultllm.ErrorForm{faultllm.FormVendor, faultllm.FormUnended} {
		all = append(all, fault{name: "error, then silence: " + form.String(), inBand: true, slow: true, form: form, at: func(p faultllm.Position) faultllm.Fault {
			return faultllm.InBandStall(p, form, "", "an error was encountered while running the model")
		}})
	}

	return all
}

// forms are those of all vendors.
func forms() []faultllm.ErrorForm {
	var all []faultllm.ErrorForm
	for _, v := range faultllm.Vendors() {
		all = append(all, faultllm.ErrorForms(v)...)
	}
	slices.Sort(all)

	return slices.Compact(all)
}
