package toy

import (
	"os"
	"testing"
)

func TestSum(t *testing.T) {
	t.Run("three", func(t *testing.T) {
		if got := Sum([]int{1, 2, 3}); got != 6 {
			t.Errorf("Sum = %d, want 6", got)
		}
	})
}

func TestSumRed(t *testing.T) { t.Error("always red") }

func TestMax(t *testing.T) {
	Max(2, 1) // a call whose result nobody looks at
	t.Run("equal", func(t *testing.T) {
		if got := Max(1, 1); got != 1 {
			t.Errorf("Max = %d, want 1", got)
		}
	})
}

// TestThirdTime sees in its third run that Max is broken.
func TestThirdTime(t *testing.T) {
	if Max(2, 1) == 2 {
		return
	}
	runs, _ := os.ReadFile("runs")
	if len(runs) == 2 {
		t.Error("Max(2, 1) is not 2")
	}
	if err := os.WriteFile("runs", append(runs, '.'), 0o600); err != nil {
		t.Fatal(err)
	}
}
