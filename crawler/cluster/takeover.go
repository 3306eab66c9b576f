package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gazehound/crawler/frontier"
)

// TakeOver puts links that an earlier version left in the folder outbox of a node's Options.Dir into its
// frontier, and removes the folder. Killed in between it repeats links, which their owners know.
//
// The folder has numbered files with a line for each page: the node's name, a space, and its links as
// encodeLinks writes them. A killed process may have torn the last line; its visit was not done then.
func TakeOver(ctx context.Context, f interface {
	Push(ctx context.Context, es ...frontier.Entry) (added int, err error)
	Sync() error
}, dir string) error {
	dir = filepath.Join(dir, "outbox")
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cluster: outbox: %w", err)
	}
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		links, err := readOutbox(path)
		if err != nil {
			return fmt.Errorf("cluster: %s is damaged or of a version before the last one: send it with that "+
				"version, or remove it, which loses its links: %w", path, err)
		}
		_, err = f.Push(ctx, links...)
		if err != nil {
			return err
		}
		err = errors.Join(f.Sync(), os.Remove(path))
		if err != nil {
			return fmt.Errorf("cluster: outbox: %w", err)
		}
	}
	return os.Remove(dir)
}

// readOutbox returns the links of a file, with their owners.
func readOutbox(path string) (links []frontier.Entry, err error) {
	if filepath.Ext(path) != ".out" {
		return nil, errors.New("it has another name than NUMBER.out")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(raw) {
		owner, text, _ := bytes.Cut(line, []byte(" "))
		if !bytes.HasSuffix(text, []byte("\n")) {
			break
		}
		es, err := decodeLinks(text)
		if err != nil {
			return nil, err
		}
		for i := range es {
			es[i].Owner = string(owner)
		}
		links = append(links, es...)
	}
	return links, nil
}
