package continuation

import (
	"maps"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/openai"
)

// prose keeps what stands beside the text of a block joinable when a continuation goes on in it. Eino glues two strings,
// refuses two values of most other types and two annotations of one index; and what points into the text counts from the
// start of its attempt.
type prose struct {
	now     beside // of the block under way
	earlier beside // of the block that broke
	broken  bool   // an attempt broke

	writing blockKey // the text block that arrives
	wrote   int      // runes that this attempt wrote in it
	at      int      // of these, what came before the piece that is placed
}

// beside is what came beside the text of one block.
type beside struct {
	place       int
	extra       map[string]any
	ext         any
	annotations int // the first index that is free
	runes       int // of text delivered
}

func (p *prose) interrupt() {
	p.earlier, p.broken = p.now, true
	p.writing, p.wrote = blockKey{}, 0
}

// see takes note of a text block as the attempt wrote it, before anything was cut from it.
func (p *prose) see(o *origin) {
	if o.block == nil || o.block.AssistantGenText == nil {
		return
	}
	key := blockKey{kind: o.block.Type}
	if i := indexOf(o.block); i != nil {
		key.index = *i
	}
	if p.writing != key {
		p.writing, p.wrote = key, 0
	}
	o.wrote = p.wrote
	p.wrote += utf8.RuneCountInString(o.block.AssistantGenText.Text)
}

// join returns c, a piece of the text at a place, as it can stand there.
func (p *prose) join(c *schema.ContentBlock, at int) *schema.ContentBlock {
	if p.now.place != at {
		p.now = beside{place: at}
	}
	t := c.AssistantGenText
	if p.broken && p.earlier.place == at && (len(c.Extra) > 0 || t.Extension != nil || t.OpenAIExtension != nil) {
		c = p.fit(c)
		t = c.AssistantGenText
	}
	p.now.runes += utf8.RuneCountInString(t.Text)
	if len(c.Extra) > 0 {
		if p.now.extra == nil {
			p.now.extra = make(map[string]any, len(c.Extra))
		}
		maps.Copy(p.now.extra, c.Extra)
	}
	if t.Extension != nil {
		p.now.ext = t.Extension
	}
	if t.OpenAIExtension != nil {
		for _, a := range t.OpenAIExtension.Annotations {
			if a != nil {
				p.now.annotations = max(p.now.annotations, a.Index+1)
			}
		}
	}

	return c
}

// fit returns a copy of c without what cannot be joined to what the earlier attempts delivered.
func (p *prose) fit(c *schema.ContentBlock) *schema.ContentBlock {
	cp, text := *c, *c.AssistantGenText
	cp.AssistantGenText = &text
	for key, v := range c.Extra {
		if old, ok := p.earlier.extra[key]; ok && !joinable(old, v) {
			if len(cp.Extra) == len(c.Extra) {
				cp.Extra = maps.Clone(c.Extra)
			}
			delete(cp.Extra, key)
		}
	}
	if text.Extension != nil && p.earlier.ext != nil && !joinable(p.earlier.ext, text.Extension) {
		text.Extension = nil
	}
	if text.OpenAIExtension != nil {
		text.OpenAIExtension = p.shifted(text.OpenAIExtension)
	}

	return &cp
}

// joinable reports whether Eino joins two values under one key into one. Two strings are joined, but to what neither is.
func joinable(old, v any) (ok bool) {
	defer func() {
		if recover() != nil { // Eino panics at two nils
			ok = false
		}
	}()
	if _, text := v.(string); text {
		return false
	}
	a, b := schema.NewContentBlock(new(schema.AssistantGenText)), schema.NewContentBlock(new(schema.AssistantGenText))
	a.Extra, b.Extra = map[string]any{"": old}, map[string]any{"": v}

	return concatBlocks([]*schema.ContentBlock{a, b}) != nil
}

// shifted returns annotations with free indices, and with places in the text counted from the start of the block.
func (p *prose) shifted(e *openai.AssistantGenTextExtension) *openai.AssistantGenTextExtension {
	shift := p.now.runes - p.at
	out := *e
	out.Annotations = nil
	for _, a := range e.Annotations {
		if a == nil {
			continue
		}
		cp := *a
		cp.Index += p.earlier.annotations
		if u := copied(a.URLCitation); u != nil {
			u.StartIndex, u.EndIndex = u.StartIndex+shift, u.EndIndex+shift
			cp.URLCitation = u
		}
		if f := copied(a.ContainerFileCitation); f != nil {
			f.StartIndex, f.EndIndex = f.StartIndex+shift, f.EndIndex+shift
			cp.ContainerFileCitation = f
		}
		out.Annotations = append(out.Annotations, &cp)
	}

	return &out
}
