package continuation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// fingerprint returns a hash of what is asked: the messages, the tools that may be called, and the model's name. What
// differs from process to process though the same is asked, such as ids in a message's Extra, is left out, and so is how
// it is answered: temperature, limits, stop words, and options of a client's own.
func (e *engine) fingerprint(r *request) string {
	h := sha256.New()
	e.speech.fingerprint(h, r)
	o := model.GetCommonOptions(&model.Options{Tools: e.bound}, r.opts...)
	if o.Model != nil {
		hashAll(h, "model", *o.Model)
	}
	hashTools(h, "tool", o.Tools)
	hashTools(h, "deferred tool", o.DeferredTools)
	hashTools(h, "tool search", []*schema.ToolInfo{o.ToolSearchTool})
	if o.ToolChoice != nil {
		hashAll(h, "tool choice", string(*o.ToolChoice))
		hashAll(h, o.AllowedToolNames...)
	}
	if o.AgenticToolChoice != nil {
		hashValue(h, o.AgenticToolChoice, 0)
	}

	return hex.EncodeToString(h.Sum(nil))
}

// hashTools writes tools in an order of their own: where they come from, they may come in any.
func hashTools(h hash.Hash, kind string, tools []*schema.ToolInfo) {
	sums := make([]string, 0, len(tools))
	for _, t := range tools {
		if t == nil {
			continue
		}
		one := sha256.New()
		hashAll(one, t.Name, t.Desc)
		if s, err := t.ToJSONSchema(); err == nil && s != nil {
			hashValue(one, s, 0)
		}
		sums = append(sums, string(one.Sum(nil)))
	}
	slices.Sort(sums)
	for _, sum := range sums {
		hashAll(h, kind, sum)
	}
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

// hashParts writes parts of multi-content.
func hashParts[P any](h hash.Hash, parts []P) {
	for i := range parts {
		hashAll(h, "part")
		hashValue(h, parts[i], 0)
	}
}

// maxHashDepth bounds values within values that are no JSON: one may hold itself.
const maxHashDepth = 16

// hashValue writes a value as JSON. If that cannot be, since a client keeps a function in Extra for example, only what is
// no JSON is left out, and the rest is written field by field.
func hashValue(h hash.Hash, v any, depth int) {
	if data, err := json.Marshal(v); err == nil {
		hashAll(h, string(data))

		return
	}
	if depth == maxHashDepth {
		return
	}
	switch r := reflect.Indirect(reflect.ValueOf(v)); r.Kind() {
	case reflect.Struct:
		for i := range r.NumField() {
			if f := r.Type().Field(i); f.IsExported() {
				hashAll(h, f.Name)
				hashValue(h, r.Field(i).Interface(), depth+1)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range r.Len() {
			hashValue(h, r.Index(i).Interface(), depth+1)
		}
	case reflect.Map:
		keys := make(map[string]reflect.Value, r.Len())
		for k, e := range r.Seq2() {
			keys[fmt.Sprint(k)] = e
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			hashAll(h, k)
			hashValue(h, keys[k].Interface(), depth+1)
		}
	default: // what is no JSON
	}
}
