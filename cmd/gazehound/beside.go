package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/internal/disk"
)

// A crawl has its stores for itself. A command that reads them runs inside the process of the crawl
// then: the process that was called sends its command line to the admin listener, and prints what
// comes back. Files are written by the process that was called, and only the one that it was told.

// readers are the commands that a running crawl runs.
var readers = []string{"search", "explain", "export", "pages", "report", "serve"}

// errBeside stops a command before it begins: the running crawl is to run it.
var errBeside = errors.New("the running crawl answers")

// runningCrawl is the admin listener of the crawl that works on the data directory, if there is one.
func (a *app) runningCrawl() (at monitor.Address, ok bool) {
	p := project{a.data}
	pid, runs, err := frontier.Holder(p.frontier())
	if err != nil || !runs {
		return at, false
	}
	at, err = monitor.ReadAddress(p.admin())
	return at, err == nil && at.PID == pid
}

// readsBeside reports whether a running crawl has to run this command.
func (a *app) readsBeside(command string) bool {
	if !slices.Contains(readers, command) || a.flags.Changed("cluster") || a.flags.Changed("part") ||
		a.flags.Changed("nodes") {
		return false
	}
	_, ok := a.runningCrawl()
	return ok
}

// A commandLine is what the crawl is asked to run.
type commandLine struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir"` // that paths are relative to
}

// A piece is a line of the answer: a part of what the command writes, or, with To "end", its exit code.
type piece struct {
	To   string `json:"to"` // "out", "err", "file", "licence" or "end"
	Data []byte `json:"data,omitempty"`
	Code int    `json:"code,omitzero"`
}

// askCrawl has the running crawl run a command line, and returns how it ended.
func (a *app) askCrawl(ctx context.Context, args []string) error {
	ctx, stop := signals(ctx)
	defer stop()
	at, _ := a.runningCrawl()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	at.Token = at.Owner
	answer, err := at.Open(ctx, http.MethodPost, "v1/crawl/run", commandLine{args, dir})
	if err != nil {
		return fail(exitLocked, "%s is in use by process %d, and %w", a.data, at.PID, err)
	}
	defer answer.Close()
	output := "-"
	if f := a.flags.Lookup("output"); f != nil && f.Value.String() != "" {
		output = f.Value.String()
	}
	receive := func(file io.Writer) error {
		return a.receive(ctx, json.NewDecoder(answer), file, output+".licence.txt")
	}
	if output == "-" {
		return receive(io.Discard)
	}
	return a.writeExport(output, "", receive)
}

// receive prints an answer, and writes to file and licence what the command writes to its file.
func (a *app) receive(ctx context.Context, pieces *json.Decoder, file io.Writer, licence string) error {
	for {
		var p piece
		if err := pieces.Decode(&p); ctx.Err() != nil {
			return fail(exitStopped, "stopped")
		} else if err != nil {
			return fmt.Errorf("the crawl has not answered to the end: %w", err)
		}
		var err error
		switch p.To {
		case "out":
			_, err = a.stdout.Write(p.Data)
		case "err":
			_, err = a.Err.Write(p.Data)
		case "file":
			_, err = file.Write(p.Data)
		case "licence":
			err = disk.ReplaceBytes(licence, 0o644, p.Data)
		case "end":
			if p.Code != exitOK {
				return silentExit(p.Code)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// besides runs command lines inside the process of a crawl.
type besides struct {
	session *session
	dir     string // of the process that was called
	send    func(to string, data []byte) error
}

// maxBeside is how many commands run inside a crawl at a time.
const maxBeside = 4

// answerer answers requests of askCrawl.
func (s *session) answerer() http.HandlerFunc {
	room := make(chan struct{}, maxBeside)
	return func(w http.ResponseWriter, r *http.Request) {
		var line commandLine
		if err := json.NewDecoder(r.Body).Decode(&line); err != nil {
			http.Error(w, "want a command line", http.StatusBadRequest)
			return
		}
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-r.Context().Done():
			return
		}
		answer := http.NewResponseController(w)
		answer.SetWriteDeadline(time.Time{}) // a large export takes its time
		var mu sync.Mutex
		lines := json.NewEncoder(w)
		send := func(p piece) error {
			mu.Lock()
			defer mu.Unlock()
			return errors.Join(lines.Encode(p), answer.Flush())
		}
		a := &app{stdin: strings.NewReader(""), beside: &besides{session: s, dir: line.Dir}}
		a.beside.send = func(to string, data []byte) error { return send(piece{To: to, Data: data}) }
		a.stdout, a.Err = a.beside.writer("out"), a.beside.writer("err")
		send(piece{To: "end", Code: a.run(r.Context(), line.Args)})
	}
}

// writer writes to one of the goals of a piece.
func (b *besides) writer(to string) io.Writer { return goal{b, to} }

type goal struct {
	*besides
	to string
}

func (g goal) Write(p []byte) (int, error) {
	if err := g.send(g.to, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// path returns a path as the process that was called means it.
func (a *app) path(name string) string {
	if a.beside == nil || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.beside.dir, name)
}

// enterCrawl makes the data directory of a command inside a crawl that of the crawl.
func (a *app) enterCrawl(command string) error {
	if !slices.Contains(readers, command) {
		return fail(exitLocked, "%s does not run inside a crawl", command)
	}
	a.data, a.configFile = a.beside.session.p.dir, a.path(a.configFile)
	return nil
}

// showSearchPage says where a running crawl serves what it finds.
func (a *app) showSearchPage() error {
	if url := a.beside.session.page; url != "" {
		return a.tell(fields{"type": "serving", "url": url}, "search page  %s  of the running crawl\n", url)
	}
	return fail(exitLocked, "the running crawl serves no search page; start it with --serve 127.0.0.1:8090")
}
