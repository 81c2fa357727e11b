package faultllm

// wire is one vendor's format.
type wire interface {
	// path is where requests are posted, behind the base URL.
	path() string
	// decode reads a request.
	decode(body []byte) (Request, *refusal)
	// validate refuses a request as the vendor would.
	validate(Request) *refusal
	// encoder formats one response.
	encoder(r Request, n int) encoder
	// refusalBody formats a refusal.
	refusalBody(refusal) string
}

// encoder formats the events of one response.
type encoder interface {
	// contentType is that of a streamed response.
	contentType() string
	// frame returns the bytes of one event; nil if the wire has none for it.
	frame(event) []byte
	// malformed returns a whole frame of the event with broken content.
	malformed(event) []byte
	// keepAlive returns a frame without meaning.
	keepAlive() []byte
	// failure returns an error inside the stream.
	failure(errType, message string) []byte
	// whole returns all events as one document.
	whole([]event) []byte
}

// refusal is an error answer before anything is generated.
type refusal struct {
	status  int
	errType string
	code    string
	param   string
	message string
}
