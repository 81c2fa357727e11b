package continuation

import "reflect"

// extraArkExpiry is the key under which Ark's client for responses says until when the provider has stored a response. The
// client's next request names that response in place of the history before it.
const extraArkExpiry = "ark-response-cache-expire-at"

// seeStored takes note of a response that the provider is to store. The message of a broken answer names the one that
// broke, which is not stored, and of two values the message takes that of the later chunk: the last one brings one that is over,
// so that the client sends the history itself. The type is the client's own, which Eino compares.
func (c *carry) seeStored(key string, v any) {
	if key == extraArkExpiry && v != nil {
		c.expired = reflect.Zero(reflect.TypeOf(v)).Interface()
	}
}

// expire adds to the Extra of a broken answer's last chunk that the response which its message names has expired.
func (c *carry) expire(extra map[string]any) map[string]any {
	if c.expired == nil {
		return extra
	}
	if extra == nil {
		extra = make(map[string]any)
	}
	extra[extraArkExpiry] = c.expired

	return extra
}
