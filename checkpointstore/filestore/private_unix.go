//go:build unix && !aix && !solaris

package filestore

import (
	"io/fs"
	"syscall"
)

// private reports whether a file is as create makes one. A second name may be that of a backup.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)

	return info.Mode() == 0o600 && ok && stat.Nlink == 1
}
