package continuation

import "github.com/eino-carryon/carryon/checkpointstore"

// deltaSize returns about how many bytes a delta takes in a store.
func deltaSize(d checkpointstore.Delta) int {
	n := deltaEach + encodedLen(d.Text) + encodedLen(d.Reasoning) + sizeOfValue(d.Dropped) + sizeOfValue(d.Extra)
	for _, t := range d.ToolCalls {
		n += sizeOfCall(t)
	}
	if d.OpenToolCall != nil {
		n += sizeOfCall(*d.OpenToolCall)
	}
	for key, more := range d.ExtraMore {
		n += sizeOfValue(key) + encodedLen(more)
	}

	return n
}

func sizeOfCall(t checkpointstore.ToolCall) int {
	const names = len(`{"index":0,"id":"","type":"","name":"","arguments":"","extra":null},`)

	return names + encodedLen(t.ID) + encodedLen(t.Type) + encodedLen(t.Name) + encodedLen(t.Arguments) + sizeOfValue(t.Extra)
}

// sizeOfValue returns about how many bytes a value of Extra takes.
func sizeOfValue(v any) int {
	const beside = 24 // quotes, brackets, and the name of a type
	n := beside
	switch v := v.(type) {
	case string:
		n += encodedLen(v)
	case []byte:
		n += (len(v) + 2) / 3 * 4
	case []string:
		for _, s := range v {
			n += beside + encodedLen(s)
		}
	case map[string]any:
		for key, v := range v {
			n += beside + len(key) + sizeOfValue(v)
		}
	}

	return n
}
