package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

func (r report) table() table {
	switch {
	case r.unbroken == nil:
		return r.realTable()
	case r.plain:
		return r.plainTable()
	default:
		return r.recoveredTable()
	}
}

// recoveredTable sets what was billed beside what had to be, and what starting over would have cost.
func (r report) recoveredTable() table {
	const out, in = "output tokens", "input tokens"
	t := table{columns: []column{
		{title: "turn", left: true},
		{title: "breaks"},
		{title: "plans", left: true},
		{title: "waited"},
		{group: out, title: "billed"},
		{group: out, title: "needed"},
		{group: out, title: "restart"},
		{group: in, title: "billed"},
		{group: in, title: "needed"},
		{group: in, title: "restart"},
	}}
	var all counts
	for i, u := range r.turns {
		t.add(row(strconv.Itoa(u.number), u.counts, r.costs(i))...)
		all.breaks, all.waited = all.breaks+u.counts.breaks, all.waited+u.counts.waited
	}
	t.add(row("all", all, r.total())...)

	return t
}

func row(name string, c counts, k costs) []string {
	return []string{
		name, strconv.Itoa(c.breaks), strings.Join(c.planList(), "\n"), seconds(c.waited),
		strconv.Itoa(k.billed.out), strconv.Itoa(k.needed.out), strconv.Itoa(k.restart.out),
		strconv.Itoa(k.billed.in), strconv.Itoa(k.needed.in), strconv.Itoa(k.restart.in),
	}
}

// costs compares three ways to the same answer.
type costs struct{ billed, needed, restart bill }

func (r report) costs(i int) costs {
	broken, unbroken := r.turns[i].records, r.unbroken[i].records

	return costs{billed: billed(broken), needed: billed(unbroken), restart: restartBill(broken, unbroken)}
}

func (r report) total() costs {
	var sum costs
	for i := range r.turns {
		k := r.costs(i)
		sum.billed = sum.billed.plus(k.billed)
		sum.needed = sum.needed.plus(k.needed)
		sum.restart = sum.restart.plus(k.restart)
	}

	return sum
}

func (r report) plainTable() table {
	t := table{columns: []column{
		{title: "turn", left: true},
		{title: "ending", left: true},
		{group: "bytes of the answer", title: "arrived"},
		{group: "bytes of the answer", title: "of"},
		{group: "output tokens", title: "billed"},
	}}
	arrived, of := 0, 0
	var records []faultllm.Record
	for i, u := range r.turns {
		got, want := len(u.reply.text()), len(r.unbroken[i].reply.text())
		if len(u.reply.messages) < len(r.unbroken[i].reply.messages)-1 {
			got = 0 // what came is not the answer but what was said before a tool call
		}
		arrived, of, records = arrived+got, of+want, append(records, u.records...)
		t.add(
			strconv.Itoa(u.number), r.ending(i), strconv.Itoa(got), strconv.Itoa(want), strconv.Itoa(billed(u.records).out),
		)
	}
	t.add(
		"all", fmt.Sprintf("%d of %d whole", r.whole(), len(r.turns)), strconv.Itoa(arrived), strconv.Itoa(of),
		strconv.Itoa(billed(records).out),
	)

	return t
}

// realTable has what a real provider reports, which bills what it does not report.
func (r report) realTable() table {
	t := table{columns: []column{
		{title: "turn", left: true},
		{title: "breaks"},
		{title: "plans", left: true},
		{title: "waited"},
		{group: "tokens as reported", title: "output"},
		{group: "tokens as reported", title: "input"},
	}}
	var all counts
	var sum bill
	for _, u := range r.turns {
		b := reported(u.reply.messages)
		t.add(
			strconv.Itoa(u.number), strconv.Itoa(u.counts.breaks), strings.Join(u.counts.planList(), "\n"), seconds(u.counts.waited),
			strconv.Itoa(b.out), strconv.Itoa(b.in),
		)
		all.breaks, all.waited, sum = all.breaks+u.counts.breaks, all.waited+u.counts.waited, sum.plus(b)
	}
	t.add(
		"all", strconv.Itoa(all.breaks), "", seconds(all.waited), strconv.Itoa(sum.out), strconv.Itoa(sum.in),
	)

	return t
}

func reported(messages []*schema.Message) bill {
	var b bill
	for _, m := range messages {
		if m.ResponseMeta != nil && m.ResponseMeta.Usage != nil {
			b = b.plus(bill{m.ResponseMeta.Usage.CompletionTokens, m.ResponseMeta.Usage.PromptTokens})
		}
	}

	return b
}
