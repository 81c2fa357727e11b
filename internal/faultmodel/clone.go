package faultmodel

import "reflect"

// clone returns a deep copy of v: pointers, maps, slices and exported fields. What stands behind unexported fields is
// shared. v must not contain itself.
func clone[T any](v T) T {
	var out T
	copyInto(reflect.ValueOf(&out).Elem(), reflect.ValueOf(&v).Elem())
	return out
}

// copyInto sets dst, which is of src's type, to a deep copy of src.
func copyInto(dst, src reflect.Value) {
	dst.Set(src)
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			copyInto(dst.Elem(), src.Elem())
		}
	case reflect.Interface:
		if !src.IsNil() {
			dst.Set(copyOf(src.Elem()))
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
			copyElements(dst, src)
		}
	case reflect.Array:
		copyElements(dst, src)
	case reflect.Map:
		copyMap(dst, src)
	case reflect.Struct:
		for i := range src.NumField() {
			if src.Type().Field(i).IsExported() {
				copyInto(dst.Field(i), src.Field(i))
			}
		}
	default:
	}
}

func copyElements(dst, src reflect.Value) {
	for i := range src.Len() {
		copyInto(dst.Index(i), src.Index(i))
	}
}

func copyMap(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
	for _, key := range src.MapKeys() {
		dst.SetMapIndex(key, copyOf(src.MapIndex(key)))
	}
}

func copyOf(src reflect.Value) reflect.Value {
	dst := reflect.New(src.Type()).Elem()
	copyInto(dst, src)
	return dst
}
