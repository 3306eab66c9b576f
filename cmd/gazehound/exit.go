package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"gazehound/index"
	"gazehound/internal/oserr"
)

// An errorKind says why a command failed. Commands give their errors a kind; only exitCodes knows
// which code of the program that is.
type errorKind int

const (
	success         errorKind = iota
	unexpected                // an error without another kind
	badUsage                  // bad flag or argument
	noSpace                   // the disk is full or read-only
	badInput                  // config, gazetteer, seeds or region cannot be used
	inUse                     // the data directory is in use
	answerNo                  // the command is finished; its answer is "no"
	noPeer                    // another node or the cluster could not be reached
	crawlFailed               // no seed could be downloaded
	noData                    // no data directory, or nothing in it
	interrupted               // by a signal; state saved
	tooManyFailures           // in a row
	timeLimit                 // --max-time reached; resumable
	diskReserve               // disk_reserve reached; resumable
)

// The exit codes. They say why the program ended; scripts may rely on them.
const (
	exitOK              = 0
	exitError           = 1
	exitUsage           = 2
	exitOutOfSpace      = 3
	exitInvalidInput    = 4
	exitLocked          = 5
	exitGate            = 6
	exitPeer            = 8
	exitCrawlFailed     = 9
	exitNoData          = 10
	exitStopped         = 11
	exitTooManyFailures = 12
	exitForced          = 13 // by a second signal
	exitTimeLimit       = 15
	exitDiskReserve     = 16
)

var exitCodes = map[errorKind]int{
	success:         exitOK,
	unexpected:      exitError,
	badUsage:        exitUsage,
	noSpace:         exitOutOfSpace,
	badInput:        exitInvalidInput,
	inUse:           exitLocked,
	answerNo:        exitGate,
	noPeer:          exitPeer,
	crawlFailed:     exitCrawlFailed,
	noData:          exitNoData,
	interrupted:     exitStopped,
	tooManyFailures: exitTooManyFailures,
	timeLimit:       exitTimeLimit,
	diskReserve:     exitDiskReserve,
}

// code returns the exit code of errors of this kind.
func (k errorKind) code() int { return exitCodes[k] }

// kindOfCode returns the kind of error with which another run of the program ended.
func kindOfCode(code int) errorKind {
	for k, c := range exitCodes {
		if c == code {
			return k
		}
	}
	return unexpected
}

// kindOf returns the kind of an error, success for nil.
func kindOf(err error) errorKind {
	var failed *kindError
	var silent silentExit
	switch {
	case err == nil:
		return success
	case errors.As(err, &silent):
		return errorKind(silent)
	case says(err, oserr.Full), says(err, oserr.ReadOnly):
		return noSpace
	case says(err, oserr.Files):
		return unexpected
	case errors.Is(err, index.ErrQuery), errors.Is(err, index.ErrCursor):
		return badUsage
	case errors.As(err, &failed):
		return failed.kind
	}
	return unexpected
}

// codeOf returns the exit code of an error.
func codeOf(err error) int { return kindOf(err).code() }

// says reports whether err is that of the system, of which libraries may pass on the text alone.
func says(err, system error) bool {
	return errors.Is(err, system) || strings.Contains(err.Error(), system.Error())
}

// A kindError is an error of a kind.
type kindError struct {
	kind errorKind
	err  error
}

func (e *kindError) Error() string { return e.err.Error() }
func (e *kindError) Unwrap() error { return e.err }

// fail returns an error of a kind. The format may wrap with %w.
func fail(kind errorKind, format string, args ...any) error {
	return &kindError{kind, fmt.Errorf(format, args...)}
}

// invalid makes err unusable input, unless it has a kind; nil stays nil.
func invalid(err error) error {
	var failed *kindError
	if err == nil || errors.As(err, &failed) {
		return err
	}
	return fail(badInput, "%w", err)
}

// A silentExit ends the program as an error of its kind does, without a further message.
type silentExit errorKind

func (silentExit) Error() string { return "" }

// endNow ends the program after a second signal. Every store is valid at any moment, so nothing is
// lost.
func endNow() { os.Exit(exitForced) }

// advised returns the text of an error, with advice if it is that of the limit of open files. Of a file that is
// missing it says so in words that are the same on every system.
func advised(err error) string {
	text := err.Error()
	var missing *fs.PathError
	if errors.As(err, &missing) && errors.Is(missing, fs.ErrNotExist) {
		text = strings.Replace(text, missing.Error(), missing.Path+" does not exist", 1)
	}
	if says(err, oserr.Files) && !strings.Contains(text, "ulimit") {
		return text + ". Allow more, such as with \"ulimit -n 1024\""
	}
	return text
}

// An action is what a command does with its arguments.
type action func(ctx context.Context, args []string) error

// stoppable returns run with a context that the first SIGINT or SIGTERM cancels. It then fails as
// interrupted and says how it leaves the data, unless run has an answer of its own.
func stoppable(run action, leaves ...string) action {
	return func(ctx context.Context, args []string) error {
		ctx, stop := signals(ctx)
		defer stop()
		err := run(ctx, args)
		var failed *kindError
		if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || !errors.As(err, &failed)) {
			return fail(interrupted, "%s", strings.Join(append([]string{"stopped"}, leaves...), "; "))
		}
		return err
	}
}
