package main

import (
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
)

// paint colours a text.
type paint func(a ...any) string

// palette holds the few colours of the program. Without colour all of them leave the text as it is.
type palette struct {
	title, faint, broken, plan, tool, good paint
}

func newPalette(colours bool) palette {
	brush := func(a ...color.Attribute) paint {
		c := color.New(a...)
		c.DisableColor()
		if colours {
			c.EnableColor()
		}

		return c.SprintFunc()
	}

	return palette{
		title:  brush(color.Bold),
		faint:  brush(color.Faint),
		broken: brush(color.FgRed, color.Bold),
		plan:   brush(color.FgYellow),
		tool:   brush(color.FgCyan),
		good:   brush(color.FgGreen),
	}
}

// hasColours reports whether out is a terminal that wants colours. See https://no-color.org.
func hasColours(out io.Writer, getenv func(string) string) bool {
	f, ok := out.(*os.File)

	return ok && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" &&
		(isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
