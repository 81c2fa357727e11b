package continuation

import (
	"fmt"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

// Kind is what a failure means for the next step. The zero Kind is [Unknown].
type Kind int

const (
	// Unknown is an error that nothing is known about. After the first content it counts as [Transient]; before it,
	// it is returned.
	Unknown Kind = iota
	// Transient is a failure that a repetition may mend; its cause says which one.
	Transient
	// RateLimited is a refusal for the moment.
	RateLimited
	// Overloaded is a provider without capacity.
	Overloaded
	// ContextOverflow is a request that is longer than the model takes.
	ContextOverflow
	// InvalidRequest is a request that is wrong for another reason.
	InvalidRequest
	// Unauthorized is a missing right: a bad key, a forbidden model, a certificate that is not trusted.
	Unauthorized
	// ModelNotFound is a model, deployment or address that does not exist.
	ModelNotFound
	// ContentFiltered is a refusal because of what the request or the answer says.
	ContentFiltered
	// QuotaExhausted is an account without credit. Waiting does not help.
	QuotaExhausted
)

// String returns the kind's name.
func (k Kind) String() string {
	switch k {
	case Unknown:
		return "Unknown"
	case Transient:
		return "Transient"
	case RateLimited:
		return "RateLimited"
	case Overloaded:
		return "Overloaded"
	case ContextOverflow:
		return "ContextOverflow"
	case InvalidRequest:
		return "InvalidRequest"
	case Unauthorized:
		return "Unauthorized"
	case ModelNotFound:
		return "ModelNotFound"
	case ContentFiltered:
		return "ContentFiltered"
	case QuotaExhausted:
		return "QuotaExhausted"
	default:
		return fmt.Sprintf("Kind(%d)", int(k))
	}
}

// Class is what a [Classifier] says of an error. Classes are values.
type Class struct {
	Kind          Kind
	Cause         callbacks.Cause
	ErrorKind     callbacks.ErrorKind
	Status        int           // HTTP status of the error, 400 and above; 0 if none is known
	RetryAfter    time.Duration // the wait that the provider asked for; looked at only if HasRetryAfter
	HasRetryAfter bool
}

// Permanent says whether no repetition mends the error: it is returned at once.
func (c Class) Permanent() bool {
	switch c.Kind {
	case ContextOverflow, InvalidRequest, Unauthorized, ModelNotFound, ContentFiltered, QuotaExhausted:
		return true
	case Unknown, Transient, RateLimited, Overloaded:
		return false
	default:
		return false
	}
}

// Classifier says what an error of the wrapped model means. It is called only after the caller's context was found
// alive, by many goroutines at once, and never with nil. Errors of tools, handlers, stores and consumers do not reach
// it. One that knows only some errors hands the others to [DefaultClassifier].
type Classifier func(error) Class

// transport, provider and permanent make the common classes.
func transport(cause callbacks.Cause) Class {
	return Class{Kind: Transient, Cause: cause, ErrorKind: callbacks.KindSSETransport}
}

func bodyDecode(cause callbacks.Cause) Class {
	return Class{Kind: Transient, Cause: cause, ErrorKind: callbacks.KindBodyDecode}
}

func malformedFrame() Class {
	return Class{Kind: Transient, Cause: callbacks.CauseMalformedFrame, ErrorKind: callbacks.KindSSEParse}
}

func provider(kind Kind, cause callbacks.Cause) Class {
	return Class{Kind: kind, Cause: cause, ErrorKind: callbacks.KindProviderError}
}

func permanent(kind Kind) Class { return provider(kind, callbacks.CausePermanent) }

func unknown() Class {
	return Class{Kind: Unknown, Cause: callbacks.CauseUnknown, ErrorKind: callbacks.KindUnknown}
}
