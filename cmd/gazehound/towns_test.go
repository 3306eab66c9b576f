package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gazehound/crawler/lab/demo"
)

// A madeTown is a made-up town with a folder of what begins a crawl of it: town.osm,
// seeds.txt and project, a data directory.
type madeTown struct {
	*demo.Town
	dir string
}

// madeTowns has a function that makes a town once, by its options.
var madeTowns sync.Map

// makeTown returns the town with these options. Its folder is read only: tests copy the project.
func makeTown(o demo.Options) (madeTown, error) {
	once, _ := madeTowns.LoadOrStore(fmt.Sprintf("%+v", o), sync.OnceValues(func() (madeTown, error) {
		return writeTown(o)
	}))
	return once.(func() (madeTown, error))()
}

func writeTown(o demo.Options) (made madeTown, err error) {
	if made.Town, err = demo.New(o); err != nil {
		return made, err
	}
	// It is removed with the configuration of the tests, after all of them.
	if made.dir, err = os.MkdirTemp(os.Getenv("XDG_CONFIG_HOME"), "town-"); err != nil {
		return made, err
	}
	if err := writeFile(made.file("town.osm"), made.WriteOSM); err != nil {
		return made, err
	}
	seeds := strings.Join(urlTexts(made.Seeds()), "\n") + "\n"
	if err := os.WriteFile(made.file("seeds.txt"), []byte(seeds), 0o644); err != nil {
		return made, err
	}
	var complaints bytes.Buffer
	args := []string{"init", "--data", made.file("project"), "--osm", made.file("town.osm"), "--region", made.Name(), "--quiet"}
	if code := run(context.Background(), args, nil, io.Discard, &complaints); code != exitOK {
		return made, fmt.Errorf("init: exit %d: %s", code, complaints.String())
	}
	return made, nil
}

func (m madeTown) file(name string) string { return filepath.Join(m.dir, name) }
