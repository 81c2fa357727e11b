package continuation

import (
	"encoding"
	"encoding/json"
	"reflect"

	"github.com/cloudwego/eino/schema"
)

// freezer copies what a consumer may write into, so that it can be read beside the stream. Strings are shared, so that the
// cost is that of the values around them.
type freezer struct {
	bytes  int // that the values take in a checkpoint, about
	copies map[reference]reflect.Value
}

// reference is a value that others can refer to as well, or that can hold itself.
type reference struct {
	at     uintptr
	length int
	kind   reflect.Type
}

// frozen returns a copy of a block that shares nothing with it that can be written into, and about how many bytes it takes
// in a checkpoint. What brings an encoding of its own is shared: it may hold what must not be copied, such as locks.
func frozen(b *schema.ContentBlock) (*schema.ContentBlock, int) {
	var f freezer
	c := *b
	f.fields(reflect.ValueOf(&c).Elem())

	return &c, f.bytes
}

func (f *freezer) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		f.bytes += twiceEncodedLen(v.String())

		return v
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if v.IsNil() {
			return v
		}
	case reflect.Struct, reflect.Array:
	default:
		f.bytes += len("1234567,")

		return v
	}
	if v.Kind() == reflect.Interface {
		out := reflect.New(v.Type()).Elem()
		out.Set(f.value(v.Elem()))

		return out
	}
	if encodesItself(v.Type()) {
		f.opaque(v)

		return v
	}

	return f.composed(v)
}

// composed copies a value that is made of others.
func (f *freezer) composed(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Struct, reflect.Array:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		if v.Kind() == reflect.Struct {
			f.fields(out)
		} else {
			f.items(out)
		}

		return out
	default:
	}
	ref := reference{at: v.Pointer(), kind: v.Type()}
	if v.Kind() == reflect.Slice {
		ref.length = v.Len()
	}
	if c, ok := f.copies[ref]; ok {
		return c
	}
	if f.copies == nil {
		f.copies = make(map[reference]reflect.Value)
	}
	switch v.Kind() {
	case reflect.Pointer:
		out := reflect.New(v.Type().Elem())
		f.copies[ref] = out
		out.Elem().Set(f.value(v.Elem()))

		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		f.copies[ref] = out
		for key, item := range v.Seq2() {
			f.bytes += len(key.String()) + len(`\"\":,`)
			out.SetMapIndex(key, f.value(item))
		}

		return out
	default:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		f.copies[ref] = out
		reflect.Copy(out, v)
		f.items(out)

		return out
	}
}

// fields copies what the fields of a struct refer to. Those that are not exported stay shared: JSON has none of them.
func (f *freezer) fields(v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || v.Field(i).IsZero() {
			continue
		}
		f.bytes += len(field.Name) + len(`\"\":,`)
		v.Field(i).Set(f.value(v.Field(i)))
	}
}

// items copies what the items of a list refer to.
func (f *freezer) items(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		f.bytes += v.Len()*4/3 + len(`\"\",`)

		return
	}
	for i := range v.Len() {
		v.Index(i).Set(f.value(v.Index(i)))
	}
}

// opaque counts what only its own encoding knows: raw JSON is known, and of the rest something is assumed.
func (f *freezer) opaque(v reflect.Value) {
	if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
		f.bytes += encodedLen(string(raw))

		return
	}
	f.bytes += len("2026-01-02T15:04:05.999999999Z")
}

// encodesItself reports whether values of a type, or pointers to them, say how they are written as JSON.
func encodesItself(t reflect.Type) bool {
	for _, by := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(by) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(by) {
			return true
		}
	}

	return false
}

// twiceEncodedLen returns how long a text is as a JSON string that stands in another one.
func twiceEncodedLen(s string) int {
	n := len(s) + len(`\"\",`)
	for i := range len(s) {
		switch ch := s[i]; {
		case ch == '"', ch == '\\':
			n += len(`\\\"`) - 1
		case ch == '\n', ch == '\r', ch == '\t', ch == '\b', ch == '\f':
			n += len(`\\n`) - 1
		case ch < ' ':
			n += len(`\\u0000`) - 1
		}
	}

	return n
}
