package continuation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/eino-carryon/carryon/callbacks"
)

type joinCase struct {
	name, prefix, continuation, want string
	kind                             callbacks.JoinKind
	confidence                       callbacks.Confidence
}

func runJoinCases(t *testing.T, cases []joinCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 5, 16, 1 << 20} {
				got, j := continueWith(t, c.prefix, false, split(c.continuation, size))
				assert.Equal(t, c.want, got, "pieces of %d", size)
				assert.Equal(t, c.kind, j.kind, "pieces of %d", size)
				assert.Equal(t, c.confidence, j.confidence, "pieces of %d", size)
			}
		})
	}
}

const (
	joinTableText = "Prices:\n\n| name | price |\n|------|-------|\n| tea  | 3 |\n| milk | 2 |"
	joinListText  = "Steps:\n\n1. Install the program.\n2. Configure the port.\n3. Restart the service."
)

// TestJoinAtAnAnchor: a model that looks for its place by saying one piece of the text again, and goes on with something
// new, has that piece cut where it cannot belong.
func TestJoinAtAnAnchor(t *testing.T) {
	runJoinCases(t, []joinCase{
		{
			"the head of the table", joinTableText + "\n", "| name | price |\n|------|-------|\n| corn | 1 |\n", "| corn | 1 |\n",
			callbacks.JoinOverlap, callbacks.ConfidenceHigh,
		},
		{
			"the head of the table behind a row without its end of line", joinTableText, "| name | price |\n|------|-------|\n| corn | 1 |\n",
			"\n| corn | 1 |\n", callbacks.JoinOverlap, callbacks.ConfidenceHigh,
		},
		{
			"the head and the row that broke", joinTableText + "\n| cor", "| name | price |\n|------|-------|\n| corn | 1 |\n", "n | 1 |\n",
			callbacks.JoinOverlap, callbacks.ConfidenceHigh,
		},
		{
			"the head and another row than the one that broke", joinTableText + "\n| cor", "| name | price |\n|------|-------|\n| salt | 1 |\n",
			"\n| salt | 1 |\n", callbacks.JoinOverlap, callbacks.ConfidenceLow,
		},
		{
			"the head and the last row", joinTableText + "\n", "| name | price |\n|------|-------|\n| tea  | 3 |\n| corn | 1 |\n", "| corn | 1 |\n",
			callbacks.JoinOverlap, callbacks.ConfidenceMedium,
		},
		{
			"a table of short rows", "A\n|h|h|\n|1|2|", "|h|h|\n|1|2|\n|3|4|", "\n|3|4|", callbacks.JoinOverlap, callbacks.ConfidenceHigh,
		},
		{
			"the table that the answer begins with", joinTableText[9:] + "\n", "| name | price |\n|------|-------|\n| corn | 1 |\n", "| corn | 1 |\n",
			callbacks.JoinOverlap, callbacks.ConfidenceHigh,
		},
		{
			"the long table that the answer begins with", joinTableText[9:] + "\n| bread | 4 |\n| sugar | 1 |\n| salt | 2 |\n| coffee | 9 |\n",
			"| name | price |\n|------|-------|\n| corn | 1 |\n", "| corn | 1 |\n", callbacks.JoinOverlap, callbacks.ConfidenceHigh,
		},
		{
			"a numbered item", joinListText + "\n", "2. Configure the port.\n4. Look at the log.\n", "4. Look at the log.\n",
			callbacks.JoinOverlap, callbacks.ConfidenceMedium,
		},
		{
			"a numbered item behind one without its end of line", joinListText, "2. Configure the port.\n4. Look at the log.\n",
			"\n4. Look at the log.\n", callbacks.JoinOverlap, callbacks.ConfidenceMedium,
		},
		{
			"a bullet in the middle of a line", "We need:\n\n- a boat with sails\n- ropes and ne", "- a boat with sails\n- ropes and nets\n", "ts\n",
			callbacks.JoinOverlap, callbacks.ConfidenceHigh,
		},
		{
			"the last heading", "# Guide\n\nText.\n\n## The second step\n\nOpen the file.\n\n", "## The second step\n\nThen close it.\n", "Then close it.\n",
			callbacks.JoinOverlap, callbacks.ConfidenceMedium,
		},
		{
			"a sentence where another is going on", "It was late. The boat came in at nine. Nobody said ", "The boat came in at nine. but they knew.", "but they knew.",
			callbacks.JoinOverlap, callbacks.ConfidenceMedium,
		},
		{
			"a sentence, and the broken one in other words", "It was late. The boat came in at nine. Nobody said ",
			"The boat came in at nine. Everybody knew.", "Everybody knew.", callbacks.JoinOverlap, callbacks.ConfidenceLow,
		},
		{
			"a sentence behind another one", "It was late. The boat came in at nine o'clock. Nobody said a word.",
			"The boat came in at nine o'clock. Then it rained.", " Then it rained.", callbacks.JoinOverlap, callbacks.ConfidenceMedium,
		},
		{
			"two Chinese sentences in a clause", "天黑了。两条船很晚才回来。没有人问它们去了哪里。第二天早上市", "两条船很晚才回来。没有人问它们去了哪里。场开门了。", "场开门了。",
			callbacks.JoinOverlap, callbacks.ConfidenceLow,
		},
	})
}

// TestJoinKeepsWhatMayBelong: what could stand in the text twice is not cut, and the join says that it is not sure.
func TestJoinKeepsWhatMayBelong(t *testing.T) {
	plain, low, high := callbacks.JoinPlain, callbacks.ConfidenceLow, callbacks.ConfidenceHigh
	runJoinCases(t, []joinCase{
		{"the head of an earlier table", joinTableText + "\n\nIn winter:\n\n", "| name | price |\n|------|-------|\n| tea | 4 |\n", "| name | price |\n|------|-------|\n| tea | 4 |\n", plain, low},
		{"the head of a table that has ended", joinTableText + "\n\n", "| name | price |\n|------|-------|\n| tea | 4 |\n", "| name | price |\n|------|-------|\n| tea | 4 |\n", plain, low},
		{"an item of an earlier list", joinListText + "\n\nThe second time:\n\n", "2. Configure the port.\n3. Wait.\n", "2. Configure the port.\n3. Wait.\n", plain, low},
		{"a bullet where one may begin", "We need:\n\n- a boat with sails\n- ropes\n", "- a boat with sails\n- nets\n", "- a boat with sails\n- nets\n", plain, low},
		{"a sentence in a new paragraph", "One. The boat came in at nine o'clock. Two.\n\n", "The boat came in at nine o'clock. It was late.", "The boat came in at nine o'clock. It was late.", plain, low},
		{"a sentence with its space", "One. The boat came in at nine o'clock. Two.", " The boat came in at nine o'clock. It was late.", " The boat came in at nine o'clock. It was late.", plain, high},
		{"a Chinese sentence in a clause", "他走了。那天晚上港口很安静。他说", "那天晚上港口很安静。后来", "那天晚上港口很安静。后来", plain, low},
		{"a row of code", "```ini\n# setting the port\nx = 1\n", "# setting the port\ny = 2\n", "# setting the port\ny = 2\n", plain, callbacks.ConfidenceMedium},
		{"a refrain", "It begins.\n\nThe tide comes in, the tide goes out,\nand so do we.\n\nThe gulls are high,\nthe fish is dry.\n\n", "The tide comes in, the tide goes out,\nand home we go.\n", "The tide comes in, the tide goes out,\nand home we go.\n", plain, low},
		{"an earlier heading", "# Guide\n\n## An example of use\n\nText.\n\n## Another heading\n\nText.\n\n", "## An example of use\n\nMore.\n", "## An example of use\n\nMore.\n", plain, low},
	})
}
