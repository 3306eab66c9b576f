package frontier

import (
	"errors"
	"fmt"
	"os"

	"gazehound/internal/disk"
)

// CanUpgrade reports whether Upgrade reads a format.
func CanUpgrade(format int) bool { return format >= OldestFormat && format <= Format }

// Upgrade makes a frontier of the present format in the new directory to from the one in from, which is
// not changed. Errors wrap ErrLocked while a process writes to from, ErrOlderFormat for a format that
// CanUpgrade refuses, or ErrNewerFormat. A directory that a killed Upgrade leaves has to be removed.
func Upgrade(from, to string) error {
	unlock, err := lock(from, true)
	if err == nil {
		err = errors.Join(upgrade(from, to), unlock())
	}
	if err != nil {
		return fmt.Errorf("frontier: upgrade %s: %w", from, err)
	}
	return nil
}

func upgrade(from, to string) error {
	n, err := FormatOf(from)
	if err == nil && !CanUpgrade(n) {
		err = checkFormat(from)
	}
	if err == nil {
		err = os.CopyFS(to, os.DirFS(from))
	}
	// Records of the oldest format are those of the present one without some members.
	if err == nil {
		err = writeFormat(to)
	}
	if err != nil {
		return err
	}
	return disk.SyncTree(to)
}
