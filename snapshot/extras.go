package snapshot

import "slices"

// extra is what has come under one Extra key: strings add up, as Eino concatenates them; of other values the last one
// counts.
type extra struct {
	key   string
	text  []byte
	value any
}

// extras is a small ordered map: a provider has one or two such keys.
type extras []extra

func (e *extras) add(m map[string]any, keys []string) {
	for _, key := range keys {
		v, ok := m[key]
		if !ok {
			continue
		}
		x := e.at(key)
		switch v := v.(type) {
		case string:
			x.text = append(x.text, v...)
		case []byte:
			x.value = slices.Clone(v)
		default:
			x.value = v
		}
	}
}

func (e *extras) at(key string) *extra {
	for i := range *e {
		if (*e)[i].key == key {
			return &(*e)[i]
		}
	}
	*e = append(*e, extra{key: key})

	return &(*e)[len(*e)-1]
}

func (e extras) toMap() map[string]any {
	if len(e) == 0 {
		return nil
	}
	m := make(map[string]any, len(e))
	for _, x := range e {
		if x.value != nil {
			m[x.key] = x.value
		} else {
			m[x.key] = string(x.text)
		}
	}

	return m
}
