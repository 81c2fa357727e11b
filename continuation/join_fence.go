package continuation

import "strings"

// fence is the line that opened the Markdown code block which a text stops in. The zero value is none.
type fence struct {
	mark byte   // '`' or '~'
	n    int    // how many of them
	info string // what stands behind them: the language
	body int    // where the block's content begins in the text
}

func (f fence) is() bool { return f.n > 0 }

// nests reports whether the block may have code blocks of its own.
func (f fence) nests() bool {
	return strings.EqualFold(f.info, "markdown") || strings.EqualFold(f.info, "md") || strings.EqualFold(f.info, "mdx")
}

// readFence reads a line that may be a fence.
func readFence(line string) (fence, bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] != '`' && line[0] != '~' {
		return fence{}, false
	}
	f := fence{mark: line[0]}
	for f.n < len(line) && line[f.n] == f.mark {
		f.n++
	}
	f.info = strings.TrimSpace(line[f.n:])

	return f, f.n >= 3 && (f.mark == '~' || !strings.Contains(f.info, "`"))
}

// openFence returns the fence of the block that text stops in. A line that has not ended opens nothing.
func openFence(text string) fence {
	var open fence
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return open
		}
		line := text[at : at+n]
		at += n + 1
		f, ok := readFence(line)
		switch {
		case !ok:
		case !open.is():
			open = f
			open.body = at
		case f.mark == open.mark && f.n >= open.n && f.info == "":
			open = fence{}
		}
	}
}

// reopened returns how many bytes of x open anew the code block that the text stops in; open says that more bytes may do
// so. Only a block in which none can begin is told by its fence. A fence without a language closes a block; in one whose
// JSON is not closed, it may open it again.
func (j *joiner) reopened(x string, full bool) (n int, open bool) {
	if !j.fence.is() || j.fence.nests() {
		return 0, false
	}
	line, rest, found := strings.Cut(x, "\n")
	if !found {
		want := strings.Repeat(string(j.fence.mark), j.fence.n)
		start := strings.TrimRight(want+j.fence.info, " ")

		return 0, !full && (strings.HasPrefix(start, x) || strings.HasPrefix(strings.TrimSpace(line), start))
	}
	f, ok := readFence(line)
	switch {
	case !ok || f.mark != j.fence.mark || startsWithSpace(x):
		return 0, false
	case f.info != "" && f.info == j.fence.info:
		return len(line) + 1, false
	case f.info != "" || j.doc == nil:
		return 0, false
	case strings.TrimSpace(rest) == "":
		return 0, !full
	case j.doc.opensWith(strings.TrimSpace(rest)):
		return len(line) + 1, false
	default:
		return 0, false
	}
}

// fencedAgain reports whether x opens a document in a code block, while the one that the text stops in stands in none: the
// two can never be one. Open says that more bytes may show that. What a string of the document takes is no fence.
func (j *joiner) fencedAgain(x string, full bool) (again, open bool) {
	if j.fence.is() || x == "" || x[0] != '`' && x[0] != '~' {
		return false, false
	}
	line, rest, found := strings.Cut(x, "\n")
	if !found {
		info := strings.TrimLeft(line, x[:1])
		if len(line)-len(info) < 3 && info != "" || strings.ContainsFunc(info, func(r rune) bool { return r <= ' ' || r == '\\' || r == '"' }) {
			return false, false
		}

		return false, !full
	}
	rest = strings.TrimLeft(rest, jsonSpace)
	if _, is := readFence(line); !is || j.doc.accepts(x) {
		return false, false
	}
	if rest == "" {
		return false, !full
	}

	return rest[0] == '{' || rest[0] == '[', false
}
