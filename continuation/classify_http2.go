package continuation

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/eino-carryon/carryon/callbacks"
)

// http2StreamError has the shape of net/http's own type, which copies itself into any such struct that errors.As asks
// for.
type http2StreamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error makes the struct an error, which errors.As wants.
func (e http2StreamError) Error() string {
	return fmt.Sprintf("http2: stream %d ended with code %d", e.StreamID, e.Code)
}

// isHTTP2Stream says whether one HTTP/2 stream was reset, by the peer or because of what it sent.
func isHTTP2Stream(err error) bool {
	_, found := errors.AsType[http2StreamError](err)

	return found
}

// isGoAway says whether the server shut the HTTP/2 connection down. The type is not exported and has no As method, but
// its fields are exported. Some GOAWAY errors have no type: textClass knows those.
func isGoAway(err error) bool {
	for _, node := range nodes(err) {
		t := reflect.TypeOf(node)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}

		_, stream := t.FieldByName("LastStreamID")
		_, code := t.FieldByName("ErrCode")

		if stream && code {
			return true
		}
	}

	return false
}

// http2Phrases are the texts of net/http's HTTP/2 errors without a usable type, in lower case.
func http2Phrases() []phrase {
	return []phrase{
		{"server sent goaway", transport(callbacks.CauseGoAway)},
		{"transport received goaway", transport(callbacks.CauseGoAway)},
		{"server's graceful shutdown goaway", transport(callbacks.CauseGoAway)},
		{"stream error: stream id", transport(callbacks.CauseConnectionReset)},
		{"http2: client connection lost", transport(callbacks.CauseConnectionReset)},
		{"http2: client connection force closed", transport(callbacks.CauseConnectionReset)},
		{"http2: client conn is closed", transport(callbacks.CauseConnectionReset)},
		{"http2: client conn not usable", transport(callbacks.CauseConnectionReset)},
		{"http2: client conn could not be established", transport(callbacks.CauseConnectionReset)},
		{"http2: connection error", transport(callbacks.CauseConnectionReset)},
		{"http2: response body closed", transport(callbacks.CauseConnectionReset)},
		{"connection error: no_error", transport(callbacks.CauseConnectionReset)},
		{"connection error: protocol_error", transport(callbacks.CauseConnectionReset)},
		{"connection error: internal_error", transport(callbacks.CauseConnectionReset)},
		{"connection error: flow_control_error", transport(callbacks.CauseConnectionReset)},
		{"connection error: stream_closed", transport(callbacks.CauseConnectionReset)},
		{"connection error: frame_size_error", transport(callbacks.CauseConnectionReset)},
		{"connection error: compression_error", transport(callbacks.CauseConnectionReset)},
		{"connection error: enhance_your_calm", transport(callbacks.CauseConnectionReset)},
	}
}
