// Package scenarios holds the breaks that users of other software have reported in public, each as a small script and the
// right outcome here. A test is named after the kind of break and tries the whole kind: every place, every form. The
// label of a row, such as B001, has no other meaning; TestEveryReport knows them all, and docs/out-of-reach.md has
// those that a decorator cannot act on. The package holds no code.
package scenarios
