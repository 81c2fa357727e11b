package faultllm

import "net/http"

// wire is one vendor's format.
type wire interface {
	// key returns the API key of a request.
	key(r *http.Request) string
	// read decodes a request and refuses it as the vendor would. What could be decoded is returned in any case.
	read(r *http.Request, body []byte) (Request, *refusal)
	// encoder formats one response.
	encoder(r Request, n int) encoder
	// refusalBody formats a refusal.
	refusalBody(r refusal) string
	// problem returns the vendor's refusal with a status code.
	problem(code int) refusal
}

// encoder formats the events of one response.
type encoder interface {
	// contentType is that of a streamed response.
	contentType() string
	// events turns what the model says into the events of this wire, one a frame.
	events(said []event) []event
	// frame returns the bytes of one event.
	frame(e event) []byte
	// malformed returns a whole frame of the event with broken content.
	malformed(e event) []byte
	// keepAlive returns a frame without meaning.
	keepAlive() []byte
	// failure returns an error inside the stream; without a type, the vendor's most usual one.
	failure(f failure) []byte
	// whole returns all that the model says as one document.
	whole(said []event) []byte
}

// failure is an error inside a stream.
type failure struct {
	form    ErrorForm
	errType string
	message string
	text    string // the text that it carries, where the form has one
}

// rules are how strict a wire is.
type rules struct {
	strict    bool // see Config.StrictAlternation
	noPrefill bool // see Config.RefusePrefill
	script    Script
	stored    *responseStore
}

// refusal is an error answer before anything is generated.
type refusal struct {
	status  int
	errType string
	code    string
	param   string
	message string
	delay   string // when to come back, as in google.rpc.RetryInfo
	never   bool   // the vendor tells its client not to try again
}
