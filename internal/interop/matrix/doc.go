// Package matrix holds tests only: every provider client × every fault × every kind of answer × every place in it, as a
// table of what must come out. `make matrix` prints it as a grid.
package matrix
