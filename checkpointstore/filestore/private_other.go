//go:build !unix || aix || solaris

package filestore

import "io/fs"

// private reports whether a file is as create makes one, as far as that can be told here.
func private(info fs.FileInfo) bool { return info.Mode().IsRegular() }
