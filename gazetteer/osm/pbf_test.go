package osm

import (
	"errors"
	"testing"
)

// FuzzBlock holds the law that a block of any bytes is taken or refused as damaged.
func FuzzBlock(f *testing.F) {
	f.Add([]byte{0x0a, 2, 0x0a, 0, 0x12, 14, 0x12, 12, 0x0a, 1, 2, 0x42, 1, 2, 0x4a, 1, 2, 0x52, 1, 9})
	f.Add([]byte{0x0a, 0, 0x12, 10, 0x1a, 8, 8, 1, 0x12, 1, 5, 0x1a, 1, 5})
	f.Add([]byte{0x12, 11, 0x22, 9, 0x42, 1, 0, 0x4a, 1, 2, 0x52, 1, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := newCollector(Options{TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		for _, groups := range [][]int{{relationGroup}, {wayGroup}, {nodeGroup, denseGroup}} {
			if err := c.block(data, groups); err != nil && !errors.Is(err, errBlock) {
				t.Errorf("groups %v: %v", groups, err)
			}
		}
		if err := c.header(data); err != nil && !errors.Is(err, errBlock) {
			t.Error(err)
		}
	})
}
