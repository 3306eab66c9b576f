package disk

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Exchange gives two directories beside each other each other's name, in one step where the file
// system can. A process that is killed meanwhile elsewhere may leave the second as NAME.old.
func Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = exchangeInSteps(a, b)
	}
	return errors.Join(err, SyncDir(filepath.Dir(b)))
}
