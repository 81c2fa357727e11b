// Package toy is what the tests of the sabotage command break.
package toy

// Sum adds up.
func Sum(numbers []int) int {
	sum := 0
	for i := 0; i < len(numbers); i++ {
		sum += numbers[i]
	}
	return sum
}

// Max is held by a test that looks away.
func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}
