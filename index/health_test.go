package index

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// A process that may open too few files says so, and not that the index is damaged.
func TestOpenErrorOfFileLimit(t *testing.T) {
	err := openError("index", fmt.Errorf("failed to load segment: %v", syscall.EMFILE))
	if errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}
