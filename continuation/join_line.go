package continuation

import (
	"strings"
	"unicode"
)

// lineKind is what a line is in Markdown.
type lineKind int

const (
	lineOther lineKind = iota
	lineBlank
	lineIndented
	lineTable
	lineHeading
	lineBullet
	lineNumber
)

func kindOfLine(s string) lineKind {
	switch {
	case strings.TrimSpace(s) == "":
		return lineBlank
	case startsWithSpace(s):
		return lineIndented
	case s[0] == '|':
		return lineTable
	case strings.HasPrefix(strings.TrimLeft(s, "#"), " ") && s[0] == '#':
		return lineHeading
	case len(s) > 2 && strings.IndexByte("-*+", s[0]) >= 0 && s[1] == ' ':
		return lineBullet
	}
	rest := strings.TrimLeftFunc(s, unicode.IsDigit)
	if len(rest) < len(s) && len(rest) > 2 && (rest[0] == '.' || rest[0] == ')') && rest[1] == ' ' {
		return lineNumber
	}

	return lineOther
}

// isRuler reports whether s is the line below a table's head.
func isRuler(s string) bool {
	return strings.HasPrefix(s, "|") && strings.Contains(s, "-") && strings.Trim(s, "|-: \t") == ""
}

func onlyLines(lines []string, kinds ...lineKind) bool {
	for _, s := range lines {
		ok := false
		for _, k := range kinds {
			ok = ok || kindOfLine(s) == k
		}
		if !ok {
			return false
		}
	}

	return true
}

func hasLine(lines []string, kind lineKind) bool {
	for _, s := range lines {
		if kindOfLine(s) == kind {
			return true
		}
	}

	return false
}
