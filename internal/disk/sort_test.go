package disk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSorter(t *testing.T) {
	const n = 20_000
	for _, memory := range []int{0, 64 << 10, 1} {
		if memory == 1 && testing.Short() {
			continue
		}
		count := n
		if memory == 1 { // each record a file
			count = 100
		}
		dir := t.TempDir()
		s := Sorter{Dir: dir, Memory: memory}
		random := rand.New(rand.NewPCG(1, 2))
		want := make([]string, count)
		for i := range want {
			key := strings.Repeat(fmt.Sprint(random.IntN(count/2)), random.IntN(3)) // some empty, most twice
			value := fmt.Sprintf("%08d", i)
			want[i] = key + "\x00" + value
			if err := s.Add([]byte(key), []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(want)
		var got []string
		err := s.Each(func(key, value []byte) error {
			got = append(got, string(key)+"\x00"+string(value))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("memory %d: %d records in another order, %v", memory, len(got), err)
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("files %q are left", left)
		}
	}
}

func TestSorterStops(t *testing.T) {
	dir := t.TempDir()
	s := Sorter{Dir: dir, Memory: 100}
	for i := range 1000 {
		if err := s.Add([]byte{byte(i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	stop := errors.New("stop")
	if err := s.Each(func(_, _ []byte) error { return stop }); err != stop {
		t.Errorf("error %v, want that of fn", err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("files %q are left", left)
	}
	if err := s.Each(func(_, _ []byte) error { return stop }); err != nil {
		t.Errorf("the Sorter is not empty: %v", err)
	}
	s.Dir = "/nowhere"
	err := s.Add(bytes.Repeat([]byte("x"), 200), nil)
	if err = errors.Join(err, s.Add([]byte("y"), nil)); err == nil {
		t.Error("no error where no file can be made")
	}
}

func TestSorterOfADamagedRun(t *testing.T) {
	s := Sorter{Dir: t.TempDir(), Memory: 100}
	defer s.Close()
	for i := range 1000 {
		if err := s.Add([]byte{byte(i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.runs[3].Truncate(15); err != nil {
		t.Fatal(err)
	}
	if err := s.Each(func(_, _ []byte) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v, want ErrDamaged", err)
	}
}
