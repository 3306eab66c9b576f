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
	"gazehound/internal/console"
	"gazehound/internal/disk"
	"gazehound/internal/problem"
)

// A crawl locks its stores. A command that reads them then runs inside the crawl's process: the
// process that the user started sends its command line to the admin listener and prints the answer.
// Only the user's process writes files, and only the one named by its flags.

// readers are the commands that can run inside a running crawl.
var readers = []string{"search", "compare", "explain", "export", "pages", "report"}

// errBeside stops a command before it begins because the running crawl has to run it.
var errBeside = errors.New("the running crawl answers")

// runningCrawl returns the admin listener of the crawl that uses the data directory, if there is
// one.
func (a *app) runningCrawl() (at monitor.Address, ok bool) {
	p := project{a.data}
	pid, runs, err := frontier.Holder(p.frontier())
	if err != nil || !runs {
		return at, false
	}
	at, err = monitor.ReadAddress(p.admin())
	return at, err == nil && at.PID == pid
}

// readsBeside reports whether a running crawl must run this command.
func (a *app) readsBeside(command string) bool {
	if !slices.Contains(readers, command) || a.flags.Changed("cluster") || a.flags.Changed("part") ||
		a.flags.Changed("nodes") {
		return false
	}
	_, ok := a.runningCrawl()
	return ok
}

// A commandLine is a command for the crawl to run.
type commandLine struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir"` // base of relative paths
	// of the terminals that standard output and standard error are; 0: none
	Columns    int `json:"columns"`
	ErrColumns int `json:"err_columns"`
}

// A piece is a line of the answer: some output of the command or, with To "end", its exit code.
type piece struct {
	To   string `json:"to"` // "out", "err", "file", "licence" or "end"
	Data []byte `json:"data,omitempty"`
	Code int    `json:"code,omitzero"`
}

// askCrawl runs a command line in the running crawl and returns its exit code as an error.
func (a *app) askCrawl(ctx context.Context, args []string) error {
	ctx, stop := signals(ctx)
	defer stop()
	at, _ := a.runningCrawl()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	at.Token = at.Owner
	answer, err := at.Open(ctx, http.MethodPost, "v1/crawl/run", commandLine{args, dir, a.columns, a.Columns})
	if err != nil {
		return fail(inUse, "%s is in use by process %d, and %w", a.data, at.PID, err)
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

// receive prints an answer and copies what the command writes to its file into file and licence.
func (a *app) receive(ctx context.Context, pieces *json.Decoder, file io.Writer, licence string) error {
	for {
		var p piece
		err := pieces.Decode(&p)
		if ctx.Err() != nil {
			return fail(interrupted, "stopped")
		}
		if err != nil {
			return fmt.Errorf("the crawl stopped answering: %w", err)
		}
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
				return silentExit(kindOfCode(p.Code))
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// besides runs command lines inside the crawl's process.
type besides struct {
	session *session
	dir     string // working directory of the user's process
	send    func(to string, data []byte) error
}

// maxBeside bounds the commands that run inside a crawl at a time.
const maxBeside = 4

// answerer serves the requests of askCrawl.
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
		answer.SetWriteDeadline(time.Time{}) // no deadline: a large export takes long
		var mu sync.Mutex
		lines := json.NewEncoder(w)
		send := func(p piece) error {
			mu.Lock()
			defer mu.Unlock()
			return errors.Join(lines.Encode(p), answer.Flush())
		}
		a := &app{stdin: strings.NewReader(""), beside: &besides{session: s, dir: line.Dir},
			Console: console.Console{Columns: line.ErrColumns}, columns: line.Columns}
		a.beside.send = func(to string, data []byte) error { return send(piece{To: to, Data: data}) }
		a.stdout, a.Err = a.beside.writer("out"), a.beside.writer("err")
		send(piece{To: "end", Code: a.run(r.Context(), line.Args)})
	}
}

// writer returns a writer to one target of a piece.
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

// path resolves a path relative to the working directory of the user's process.
func (a *app) path(name string) string {
	if a.beside == nil || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.beside.dir, name)
}

// enterCrawl sets the data directory of a command inside a crawl to that of the crawl.
func (a *app) enterCrawl(command string) error {
	if !slices.Contains(readers, command) {
		return fail(inUse, "%s does not run inside a crawl", command)
	}
	a.data, a.configFile = a.beside.session.p.dir, a.path(a.configFile)
	return nil
}

// Commands that change the stores borrow them from a running crawl: it ends its session, waits until
// the data directory is unlocked, and goes on.

// borrow makes a running crawl wait until back is called, or this process ends. Where none runs, or
// one without an admin listener, it does nothing.
func (a *app) borrow(ctx context.Context) (back func(), err error) {
	at, ok := a.runningCrawl()
	if !ok {
		return func() {}, nil
	}
	unlock, err := disk.LockDir(a.data, false)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fail(inUse, "another command is changing %s. Try again when it is done", a.data)
	} else if err != nil {
		return nil, err
	}
	back = func() { unlock() }
	a.say("the running crawl (process %d) waits until this command is done", at.PID)
	var done json.RawMessage
	err = a.ctl(ctx, http.MethodPost, "v1/crawl/lend", nil, &done)
	if err == nil {
		err = a.untilEnd(ctx)
	}
	if err != nil {
		back()
		return nil, err
	}
	return back, nil
}

// lend ends the session for another command; cancel ends the run.
func (s *session) lend(cancel context.CancelCauseFunc) error {
	if s.o.node {
		return &problem.Problem{Status: http.StatusConflict, Title: "this is one of several nodes, which do not wait",
			Expected: "a node that was stopped: gazehound ctl stop"}
	}
	s.watch.newLine()
	s.a.say("Waiting for another command that changes %s …", s.p.dir)
	cancel(errLent)
	return nil
}

// untilReturned waits until no command borrows the data directory any more.
func (a *app) untilReturned(ctx context.Context) error {
	ctx, stop := signals(ctx)
	defer stop()
	for {
		unlock, err := disk.LockDir(a.data, false)
		if err == nil {
			return unlock()
		} else if !errors.Is(err, disk.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return fail(interrupted, "stopped; the same command resumes the crawl")
		case <-time.After(100 * time.Millisecond):
		}
	}
}
