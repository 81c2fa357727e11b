package continuation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"

	"github.com/cloudwego/eino/components/model"
)

// fingerprint returns a hash of what is asked: the messages, the tools, and the model's name. What differs from process to
// process though the same is asked, such as ids in Extra, is left out.
func (e *engine) fingerprint(r *request) string {
	h := sha256.New()
	e.speech.fingerprint(h, r)
	o := model.GetCommonOptions(nil, r.opts...)
	if o.Model != nil {
		hashAll(h, "model", *o.Model)
	}
	for _, t := range o.Tools {
		if t != nil {
			hashAll(h, "tool", t.Name, t.Desc)
		}
	}

	return hex.EncodeToString(h.Sum(nil))
}

// hashAll writes strings so that no two lists of them are the same to the hash.
func hashAll(h hash.Hash, parts ...string) {
	for _, p := range parts {
		var size [8]byte
		for i := range size {
			size[i] = byte(len(p) >> (8 * i))
		}
		h.Write(size[:])
		h.Write([]byte(p))
	}
}

func (s messages) fingerprint(h hash.Hash, r *request) {
	for _, m := range r.messages {
		if m == nil {
			continue
		}
		hashAll(h, string(m.Role), m.Content, m.Name, m.ToolCallID, m.ToolName, m.ReasoningContent)
		for _, c := range m.ToolCalls {
			hashAll(h, "call", c.ID, c.Function.Name, c.Function.Arguments)
		}
		hashParts(h, m.UserInputMultiContent)
		hashParts(h, m.AssistantGenMultiContent)
		hashParts(h, m.MultiContent)
	}
}

// hashParts writes parts of multi-content, without what their clients keep in Extra if that cannot be written.
func hashParts[P any](h hash.Hash, parts []P) {
	for i := range parts {
		data, err := json.Marshal(parts[i])
		if err != nil {
			data = []byte(err.Error())
		}
		hashAll(h, "part", string(data))
	}
}
