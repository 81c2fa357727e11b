package checkpointstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

var errValue = errors.New("a value of no known type")

type wireCheckpoint struct {
	Fingerprint   wireString     `json:"fingerprint"`
	Provider      wireString     `json:"provider"`
	Model         wireString     `json:"model"`
	Text          wireString     `json:"text"`
	Reasoning     wireString     `json:"reasoning"`
	ToolCalls     []wireToolCall `json:"tool_calls"`
	OpenToolCall  *wireToolCall  `json:"open_tool_call"`
	Dropped       wireStrings    `json:"dropped"`
	Extra         wirePairs      `json:"extra"`
	Usage         wireUsage      `json:"usage"`
	Done          bool           `json:"done"`
	FinishReason  wireString     `json:"finish_reason"`
	Interruptions int            `json:"interruptions"`
	Takeovers     int            `json:"takeovers"`
	UpdatedAt     string         `json:"updated_at"`
}

type wireToolCall struct {
	Index     int        `json:"index"`
	ID        wireString `json:"id"`
	Type      wireString `json:"type"`
	Name      wireString `json:"name"`
	Arguments wireString `json:"arguments"`
	Extra     wirePairs  `json:"extra"`
}

type wireUsage struct {
	Known      bool `json:"known"`
	Prompt     int  `json:"prompt"`
	Cached     int  `json:"cached"`
	Completion int  `json:"completion"`
	Reasoning  int  `json:"reasoning"`
	Total      int  `json:"total"`
	Unreported int  `json:"unreported"`
}

// wireDelta is the body of a delta.
type wireDelta struct {
	wireCheckpoint

	After     string          `json:"after"`
	Continues bool            `json:"continues"`
	ExtraMore [][2]wireString `json:"extra_more"`
}

func parseBody(body []byte) (Checkpoint, error) {
	var w wireCheckpoint
	if err := json.Unmarshal(body, &w); err != nil {
		return Checkpoint{}, err
	}

	return w.checkpoint()
}

func (w *wireCheckpoint) checkpoint() (c Checkpoint, err error) {
	updated, err := time.Parse(time.RFC3339Nano, w.UpdatedAt)
	if err != nil {
		return Checkpoint{}, err
	}
	c = Checkpoint{
		Fingerprint: string(w.Fingerprint), Provider: string(w.Provider), Model: string(w.Model),
		Text: string(w.Text), Reasoning: string(w.Reasoning), Dropped: w.Dropped.list(), Usage: Usage(w.Usage),
		Done: w.Done, FinishReason: string(w.FinishReason),
		Interruptions: w.Interruptions, Takeovers: w.Takeovers, UpdatedAt: updated.UTC(),
	}
	if c.Extra, err = w.Extra.mapping(0); err != nil {
		return Checkpoint{}, err
	}
	if w.ToolCalls != nil {
		c.ToolCalls = make([]ToolCall, len(w.ToolCalls))
	}
	for i, t := range w.ToolCalls {
		if c.ToolCalls[i], err = t.toolCall(); err != nil {
			return Checkpoint{}, err
		}
	}
	if w.OpenToolCall != nil {
		open, err := w.OpenToolCall.toolCall()
		if err != nil {
			return Checkpoint{}, err
		}
		c.OpenToolCall = &open
	}

	return c, nil
}

// parseDelta reads what appendDelta wrote. It is the part of a checkpoint that is new.
func parseDelta(body []byte) (Delta, error) {
	var w wireDelta
	if err := json.Unmarshal(body, &w); err != nil {
		return Delta{}, err
	}
	c, err := w.checkpoint()
	if err != nil {
		return Delta{}, err
	}
	d := Delta{
		Text: c.Text, Reasoning: c.Reasoning, ToolCalls: c.ToolCalls, OpenToolCall: c.OpenToolCall, Continues: w.Continues, Extra: c.Extra,
		Dropped: c.Dropped, Usage: c.Usage, Done: c.Done, FinishReason: c.FinishReason,
		Interruptions: c.Interruptions, Takeovers: c.Takeovers, UpdatedAt: c.UpdatedAt,
	}
	if d.After, err = strconv.ParseUint(w.After, 10, 64); err != nil {
		return Delta{}, err
	}
	for _, pair := range w.ExtraMore {
		if d.ExtraMore == nil {
			d.ExtraMore = make(map[string]string, len(w.ExtraMore))
		}
		d.ExtraMore[string(pair[0])] = string(pair[1])
	}

	return d, nil
}

func (w wireToolCall) toolCall() (ToolCall, error) {
	extra, err := w.Extra.mapping(0)

	return ToolCall{
		Index: w.Index, ID: string(w.ID), Type: string(w.Type), Name: string(w.Name),
		Arguments: string(w.Arguments), Extra: extra,
	}, err
}

// wireString is a string, or {"b64":"…"} where it is not UTF-8.
type wireString string

func (s *wireString) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var w struct {
			B64 []byte `json:"b64"`
		}
		if err := json.Unmarshal(data, &w); err != nil {
			return err
		}
		*s = wireString(w.B64)

		return nil
	}

	return json.Unmarshal(data, (*string)(s))
}

type wireStrings []wireString

func (w wireStrings) list() []string {
	if w == nil {
		return nil
	}
	list := make([]string, len(w))
	for i, s := range w {
		list[i] = string(s)
	}

	return list
}

// wirePairs are the pairs of a map.
type wirePairs [][2]json.RawMessage

func (w wirePairs) mapping(depth int) (map[string]any, error) {
	if w == nil {
		return nil, nil
	}
	if depth >= maxDepth {
		return nil, errors.New("maps too deep")
	}
	m := make(map[string]any, len(w))
	for _, pair := range w {
		var key wireString
		if err := json.Unmarshal(pair[0], &key); err != nil {
			return nil, err
		}
		v, err := parseValue(pair[1], depth)
		if err != nil {
			return nil, err
		}
		m[string(key)] = v
	}

	return m, nil
}

func parseValue(data json.RawMessage, depth int) (any, error) {
	if len(data) == 0 {
		return nil, errValue
	}
	switch data[0] {
	case '"':
		var s wireString
		err := json.Unmarshal(data, &s)

		return string(s), err
	case 't', 'f':
		return data[0] == 't', nil
	case '{':
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, err
		}
		if len(fields) != 1 {
			return nil, errValue
		}
		for kind, value := range fields {
			return parseTyped(kind, value, depth)
		}
	}

	return nil, errValue
}

func parseTyped(kind string, data json.RawMessage, depth int) (any, error) {
	switch kind {
	case "b64":
		var b []byte
		err := json.Unmarshal(data, &b)

		return string(b), err
	case "int":
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, err
		}

		return strconv.ParseInt(s, 10, 64)
	case "float":
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, err
		}

		return strconv.ParseFloat(s, 64)
	case "bytes":
		var b []byte
		err := json.Unmarshal(data, &b)

		return b, err
	case "strings":
		var w wireStrings
		err := json.Unmarshal(data, &w)

		return w.list(), err
	case "map":
		var w wirePairs
		if err := json.Unmarshal(data, &w); err != nil {
			return nil, err
		}

		return w.mapping(depth + 1)
	default:
		return nil, fmt.Errorf("%w: %q", errValue, kind)
	}
}
