package continuation

import (
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// Dialect says how a provider is asked for the rest of an answer. The zero Dialect is the provider's default:
// [UserTurn], but where a trailing assistant message is known to be continued. Dialects are values and may be shared.
type Dialect struct {
	form dialectForm
	mark func(*schema.Message)
	opts []model.Option
}

type dialectForm int

const (
	dialectDefault dialectForm = iota
	dialectUserTurn
	dialectPrefill
)

// UserTurn asks with a user message behind the partial answer. Every provider takes that; the model may repeat a little,
// which the join cuts.
func UserTurn() Dialect { return Dialect{form: dialectUserTurn} }

// Prefill ends the request with the partial answer itself, for providers that continue a trailing assistant message to
// the byte. A provider that refuses it, in whatever words, is asked with [UserTurn]: from then on, if it takes that.
func Prefill() Dialect { return Dialect{form: dialectPrefill} }

// PrefillWith is [Prefill] for providers that want the last message marked or the request told: mark, if not nil, may
// change the trailing assistant message, which is a copy made for this request; opts are added to the request's options.
func PrefillWith(mark func(*schema.Message), opts ...model.Option) Dialect {
	return Dialect{form: dialectPrefill, mark: mark, opts: opts}
}

// resolve replaces the zero Dialect by the provider's default.
func (d Dialect) resolve(p profile) Dialect {
	switch {
	case d.form != dialectDefault:
		return d
	case p.continuesAssistant:
		return Prefill()
	default:
		return UserTurn()
	}
}

// exact reports whether a continuation goes on to the byte, so that nothing of it needs cutting.
func (d Dialect) exact() bool { return d.form == dialectPrefill }
