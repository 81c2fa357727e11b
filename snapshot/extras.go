package snapshot

import (
	"reflect"
	"slices"
)

// extra is what has come under one Extra key: strings and lists add up, as Eino and the clients concatenate them; of
// other values, []byte among them, the last one counts.
type extra struct {
	key   string
	text  growing
	whole int // bytes of text that belong to whole thoughts
	value any
}

// extras is a small ordered map: a provider has one or two such keys.
type extras []*extra

func (e *extras) add(m map[string]any, keys []string) {
	for _, key := range keys {
		v, ok := m[key]
		if !ok {
			continue
		}
		x := e.at(key)
		if s, ok := v.(string); ok {
			x.text.add(s)
		} else {
			x.value = appendValue(x.value, v)
		}
	}
}

func (e *extras) at(key string) *extra {
	for _, x := range *e {
		if x.key == key {
			return x
		}
	}
	x := &extra{key: key}
	*e = append(*e, x)

	return x
}

// endThought says that what has come belongs to a whole thought; cutToWhole drops what does not.
func (e extras) endThought() {
	for _, x := range e {
		x.whole = x.text.len()
	}
}

func (e extras) cutToWhole() {
	for _, x := range e {
		x.text.cut(x.whole)
	}
}

func (e extras) toMap() map[string]any {
	return e.mapOf(func(x *extra) string { return x.text.view() })
}

// wholeMap is toMap of what belongs to whole thoughts.
func (e extras) wholeMap() map[string]any {
	return e.mapOf(func(x *extra) string { return x.text.view()[:x.whole] })
}

func (e extras) mapOf(text func(*extra) string) map[string]any {
	if len(e) == 0 {
		return nil
	}
	m := make(map[string]any, len(e))
	for _, x := range e {
		if x.value != nil {
			m[x.key] = cloneValue(x.value)
		} else {
			m[x.key] = text(x)
		}
	}

	return m
}

// appendValue returns old, which belongs to the caller, with a copy of v behind it if both are lists of one type, and
// else a copy of v. Bytes are no list: they are a signature, which is not a piece of another.
func appendValue(old, v any) any {
	if _, ok := v.([]byte); ok || old == nil || reflect.TypeOf(old) != reflect.TypeOf(v) {
		return cloneValue(v)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
		return reflect.AppendSlice(reflect.ValueOf(old), reflect.ValueOf(cloneValue(v))).Interface()
	}

	return cloneValue(v)
}

func cloneExtra(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = cloneValue(v)
	}

	return c
}

// cloneValue copies v with the slices and maps that an Extra is made of. What a pointer points at is the provider's and
// is shared.
func cloneValue(v any) any {
	switch v := v.(type) {
	case []byte:
		return slices.Clone(v)
	case map[string]any:
		return cloneExtra(v)
	case []any:
		c := slices.Clone(v)
		for i := range c {
			c[i] = cloneValue(c[i])
		}

		return c
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice || r.IsNil() {
		return v
	}

	return reflect.AppendSlice(reflect.MakeSlice(r.Type(), 0, r.Len()), r).Interface()
}
