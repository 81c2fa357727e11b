package continuation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// reading is what the nodes of an error say of themselves.
type reading struct {
	strong, weak  *Class // of the first name of either strength
	status        int    // the first status of 400 and above
	inBand        bool   // a node has the shape of a provider's error
	named         bool   // it has a name or a number, known or not
	retryAfter    time.Duration
	hasRetryAfter bool
}

// readError reads every node of err. Of two that say the same kind of thing the outer one, or the one that was joined
// first, is kept.
func readError(err error, now time.Time) reading {
	var r reading

	for _, node := range nodes(err) {
		r.read(node, now)
	}

	return r
}

func (r *reading) read(node error, now time.Time) {
	// A half filled error panics in its methods; what was read before that is kept.
	defer func() { _ = recover() }()

	v := structOf(node)
	if isNetwork(v) {
		return
	}

	r.readStatus(node, v)
	r.readRetryAfter(v, now)
	r.readNames(node, v)
}

// readStatus reads the status fields and methods. 0 and 200 are what an error inside a stream has.
func (r *reading) readStatus(node error, v reflect.Value) {
	httpStatus, hasHTTP := firstField(v, "HTTPStatusCode", "StatusCode")
	code, hasCode := firstField(v, "Code")
	_, hasMessage := firstField(v, "Message")

	if hasHTTP || hasCode && hasMessage {
		r.inBand = true
	}

	if noResponse(node) {
		return
	}

	r.setStatus(number(httpStatus))
	r.setStatus(number(code))
	said := number(httpStatus)
	r.named = r.named || number(code) != 0 || said != 0 && said != http.StatusOK

	if coder, ok := any(node).(interface{ HTTPStatusCode() int }); ok {
		r.setStatus(int64(coder.HTTPStatusCode()))
	}
}

func (r *reading) setStatus(n int64) {
	if r.status == 0 && isStatus(n) {
		r.status = int(n)
	}
}

// readNames reads the names, the most exact one first.
func (r *reading) readNames(node error, v reflect.Value) {
	if v.IsValid() {
		if name := v.Type().Name(); strings.HasSuffix(name, "Exception") {
			r.setName(name)
		}
	}

	for _, field := range []string{"Code", "Type", "Status"} {
		if f, found := firstField(v, field); found {
			r.setName(text(f))
		}
	}

	if coder, ok := any(node).(interface{ ErrorCode() string }); ok {
		r.setName(coder.ErrorCode())
	}

	r.setName(typeMethod(node))
}

func (r *reading) setName(name string) {
	c, weak, found := nameClass(name)
	r.named = r.named || name != ""

	switch {
	case !found:
	case weak && r.weak == nil:
		r.weak = &c
	case !weak && r.strong == nil:
		r.strong = &c
	}
}

// readRetryAfter reads a wait that the client parsed, or the headers and details that it kept.
func (r *reading) readRetryAfter(v reflect.Value, now time.Time) {
	if r.hasRetryAfter {
		return
	}

	for _, name := range []string{"RetryAfter", "Response", "Header", "Headers", "Details"} {
		f, found := firstField(v, name)
		if !found {
			continue
		}

		if d, ok := waitOf(f.Interface(), now); ok {
			r.retryAfter, r.hasRetryAfter = d, true

			return
		}
	}
}

func waitOf(value any, now time.Time) (time.Duration, bool) {
	switch value := value.(type) {
	case time.Duration:
		return value, value > 0
	case http.Header:
		return parseRetryAfter(value, now)
	case []map[string]any:
		return parseRetryInfo(value)
	}

	// A response, or what a client made of one.
	if f, found := firstField(structOf(value), "Header"); found {
		if header, ok := reflect.TypeAssert[http.Header](f); ok {
			return parseRetryAfter(header, now)
		}
	}

	return 0, false
}

// structOf returns the struct that value is or points to; the invalid Value if it is none.
func structOf(value any) reflect.Value {
	v := deref(reflect.ValueOf(value))
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}

	return v
}

// deref follows pointers and interfaces; nil ones lead to the invalid Value. A chain that is longer than any client's
// may be a ring, and is left.
func deref(v reflect.Value) reflect.Value {
	for range maxPointers {
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
			break
		}

		v = v.Elem()
	}

	return v
}

const maxPointers = 4

// isNetwork says whether v is a struct of net/http or its kin: the codes in those are no HTTP statuses.
func isNetwork(v reflect.Value) bool {
	if !v.IsValid() {
		return false
	}

	path := v.Type().PkgPath()

	return strings.HasPrefix(path, "net/") || strings.HasPrefix(path, "golang.org/x/net/")
}

// firstField returns the first of the exported fields of v that exists and is not nil, without its pointers.
func firstField(v reflect.Value, names ...string) (reflect.Value, bool) {
	if !v.IsValid() {
		return reflect.Value{}, false
	}

	for _, name := range names {
		field, found := v.Type().FieldByName(name)
		if !found || !field.IsExported() {
			continue
		}

		// An embedded pointer on the way may be nil.
		f, err := v.FieldByIndexErr(field.Index)
		if err != nil {
			continue
		}

		if f = deref(f); f.IsValid() && f.CanInterface() {
			return f, true
		}
	}

	return reflect.Value{}, false
}

// number returns an integer of any kind, the integer that a text is, or 0.
func number(v reflect.Value) int64 {
	switch {
	case !v.IsValid():
		return 0
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return int64(min(v.Uint(), 1000))
	case v.CanFloat():
		return int64(v.Float())
	}

	n, err := strconv.ParseInt(text(v), 10, 64)
	if err != nil {
		return 0
	}

	return n
}

// text returns a string or bytes; "" for anything else.
func text(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return string(v.Bytes())
	default:
		return ""
	}
}

// typeMethod calls a method Type without arguments that returns a string of any named type.
func typeMethod(node error) string {
	method := reflect.ValueOf(node).MethodByName("Type")
	if !method.IsValid() {
		return ""
	}

	t := method.Type()
	if t.NumIn() != 0 || t.NumOut() != 1 || t.Out(0).Kind() != reflect.String {
		return ""
	}

	return method.Call(nil)[0].String()
}

// codeAndMessage reads the fields Code and Message of a struct, or the entries of a map that came through JSON.
func codeAndMessage(value any) (code, message string) {
	if entries, ok := value.(map[string]any); ok {
		return plain(entries["code"]), plain(entries["message"])
	}

	v := structOf(value)
	if f, found := firstField(v, "Code"); found {
		code = plain(f.Interface())
	}

	if f, found := firstField(v, "Message"); found {
		message = plain(f.Interface())
	}

	return code, message
}

func plain(value any) string {
	switch value.(type) {
	case nil:
		return ""
	case string, json.Number, int, int32, int64, float64:
		return fmt.Sprint(value)
	default:
		return ""
	}
}
