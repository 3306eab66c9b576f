// Command gazehound finds the addresses of a city on the web: it crawls for pages with addresses of
// one region, learns which links lead to them, and serves a search over what it found. Each command
// is one file; commands.go lists them.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"gazehound/index"
	"gazehound/internal/console"
	"gazehound/internal/oserr"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes. They say why the program ended; scripts may rely on them.
const (
	exitOK              = 0
	exitError           = 1  // unexpected
	exitUsage           = 2  // bad flag or argument
	exitOutOfSpace      = 3  // the disk is full or read-only
	exitInvalidInput    = 4  // config, gazetteer, seeds or region cannot be used
	exitLocked          = 5  // the data directory is in use
	exitGate            = 6  // finished; the answer is "no"
	exitPeer            = 8  // another node or the cluster could not be reached
	exitCrawlFailed     = 9  // no seed could be downloaded
	exitNoData          = 10 // no data directory, or nothing in it
	exitStopped         = 11 // by a signal; state saved
	exitTooManyFailures = 12
	exitForced          = 13 // by a second signal
	exitTimeLimit       = 15 // --max-time reached; resumable
	exitDiskReserve     = 16 // disk_reserve reached; resumable
)

// version is set by the Makefile.
var version = "dev"

func main() {
	log.SetOutput(io.Discard) // net/http logs the faults of servers there
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// An app is one run of the program: its streams, its global flags and, once read, its
// configuration.
type app struct {
	console.Console // standard error
	stdin           io.Reader
	stdout          io.Writer

	configFile string
	data       string // data directory, which holds the whole project
	dataGiven  bool
	json       bool
	yes        bool

	columns int            // of the terminal that stdout is; 0: it is none
	flags   *pflag.FlagSet // of the command that runs
	beside  *besides       // the crawl whose process it runs in; nil: none
}

// run parses args, runs one command and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&app{Console: console.Console{Err: stderr, Columns: console.Columns(stderr)}, stdin: stdin,
		stdout: stdout, columns: console.Columns(stdout)}).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := newRootCommand(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, errBeside) {
		err = a.askCrawl(ctx, args)
	}
	if err == nil {
		return exitOK
	}
	code := codeOf(err)
	var silent silentExit
	if errors.As(err, &silent) {
		return code
	}
	a.Configure("info", "text") // the flags alone if no configuration was read
	a.Failed(code, advised(err))
	if a.json {
		a.printJSON(fields{"type": "exit_error", "exit_code": code, "message": oneLine(advised(err))})
	}
	return code
}

// advised returns the text of an error, with advice if it is that of the limit of open files.
func advised(err error) string {
	if says(err, oserr.Files) && !strings.Contains(err.Error(), "ulimit") {
		return err.Error() + ". Allow more, such as with \"ulimit -n 1024\""
	}
	return err.Error()
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "gazehound",
		Short: "Map what the web knows about a city",
		Long: `gazehound names a region, crawls the web for pages with addresses in it, and
serves what it found: search page, HTTP API, evidence for every address.`,
		Example: `  gazehound demo                                        a made-up town on this machine, no network
  gazehound init --osm city.osm.pbf --region Oldenburg  make a project from an OpenStreetMap extract
  gazehound crawl                                       crawl it; the same command resumes
  gazehound serve                                       search page and API on 127.0.0.1:8090
  gazehound run --schedule 22:00-06:00                  both as one service, with a round of the crawl every night`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subCommand,
		RunE:          showHelp,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil {
				return groupError(err)
			}
			a.flags = cmd.Flags()
			a.dataGiven = cmd.Flags().Changed("data")
			a.Configure("info", a.Format)
			switch command := cmd.CommandPath()[len("gazehound "):]; {
			case a.beside != nil:
				return a.enterCrawl(command)
			case a.readsBeside(command):
				return errBeside
			}
			return nil
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	p := root.PersistentFlags()
	p.StringVarP(&a.configFile, "config", "c", "", "configuration `FILE` (default ./config.yaml, then the one in the "+
		"data directory)")
	p.StringVarP(&a.data, "data", "d", "gazehound-data", "data `DIR`: gazetteer, crawl, model and index of one project")
	p.BoolVar(&a.json, "json", false, "print JSON instead of text")
	p.BoolVarP(&a.Quiet, "quiet", "q", false, "print results and errors only")
	p.CountVarP(&a.Verbose, "verbose", "v", "log more: every visit of a crawl, every request of a server")
	p.StringVar(&a.Format, "log-format", "", "`FORMAT` of standard error: text, or json with one object per line "+
		"(default text, or log.format)")
	oneOf(p, "log-format", console.Formats)
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	p.BoolVarP(&a.yes, "yes", "y", false, "answer yes to questions")
	p.SortFlags = false
	addCommands(root, a)
	return root
}

// subCommand is the Args of a command that only has subcommands. It is reached only if none was
// named, or an unknown one.
func subCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return nil
}

func showHelp(cmd *cobra.Command, args []string) error { return cmd.Help() }

// unknownCommand suggests the nearest sub-command of cmd.
func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return fail(exitUsage, "unknown command %q.%s \"%s --help\" lists the commands", name, didYouMean(name, names),
		cmd.CommandPath())
}

// wanted describes the values of flags by type, without the size of a number.
var wanted = map[string]string{
	"duration": "a duration with a unit, such as 2s or 500ms", "bool": "true or false",
	"int": "a whole number such as 10000", "uint": "a whole number such as 10000", "float": "a number such as 0.5",
}

// flagError turns pflag's errors into the form of all our errors.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	var refused *refusedError
	var bad *pflag.InvalidValueError
	if errors.As(err, &refused) {
		return fail(exitUsage, "%w", refused)
	} else if errors.As(err, &bad) {
		f := bad.GetFlag()
		want := cmp.Or(wanted[strings.TrimRight(f.Value.Type(), "0123456789")], "another value")
		return fail(exitUsage, "--%s must be %s, got %q", f.Name, want, bad.GetValue())
	}
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return fail(exitUsage, "unknown flag --%s.%s \"%s --help\" lists the flags", name,
			didYouMean("--"+name, names), cmd.CommandPath())
	}
	return fail(exitUsage, "%s. \"%s --help\" lists the flags", text, cmd.CommandPath())
}

// flagGroup matches the flags in cobra's errors about those that exclude each other, and about those
// of which one is required.
var flagGroup = regexp.MustCompile(`\[([^\]]+)\] (were all set|is required)$`)

// groupError rewrites cobra's errors about groups of flags.
func groupError(err error) error {
	m := flagGroup.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return fail(exitUsage, "%w", err)
	case m[2] == "is required":
		return fail(exitUsage, "one of --%s is required", strings.ReplaceAll(m[1], " ", ", --"))
	}
	return fail(exitUsage, "--%s contradict each other. Leave out all but one",
		strings.ReplaceAll(m[1], " ", " and --"))
}

// A codedError is an error with the exit code of the program.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// fail returns an error with an exit code. The format may wrap with %w.
func fail(code int, format string, args ...any) error {
	return &codedError{code, fmt.Errorf(format, args...)}
}

// invalid gives an error the exit code of unusable input, unless it has one; nil stays nil.
func invalid(err error) error {
	var coded *codedError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return fail(exitInvalidInput, "%w", err)
}

// A silentExit ends the program with a code and no further message.
type silentExit int

func (silentExit) Error() string { return "" }

// codeOf returns the exit code of an error. No other function chooses one.
func codeOf(err error) int {
	var coded *codedError
	var silent silentExit
	switch {
	case errors.As(err, &silent):
		return int(silent)
	case says(err, oserr.Full), says(err, oserr.ReadOnly):
		return exitOutOfSpace
	case says(err, oserr.Files):
		return exitError
	case errors.Is(err, index.ErrQuery), errors.Is(err, index.ErrCursor):
		return exitUsage
	case errors.As(err, &coded):
		return coded.code
	default:
		return exitError
	}
}

// says reports whether err is that of the system, of which libraries may pass on the text alone.
func says(err, system error) bool {
	return errors.Is(err, system) || strings.Contains(err.Error(), system.Error())
}

// printJSON writes v as one line to standard output.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// tell prints v as a line of JSON with --json, else the text.
func (a *app) tell(v any, format string, args ...any) error {
	if a.json {
		return a.printJSON(v)
	}
	return a.print(format, args...)
}

// print writes text for people to standard output.
func (a *app) print(format string, args ...any) error {
	_, err := io.WriteString(a.stdout, textutil.Fit(fmt.Sprintf(format, args...), a.columns))
	return err
}

// fields are the members of a JSON object.
type fields = map[string]any

// say writes a line for people to standard error unless --quiet is given.
func (a *app) say(format string, args ...any) { a.Say(format, args...) }

// warn writes a warning to standard error.
func (a *app) warn(format string, args ...any) { a.Warn(format, args...) }

// signals returns a context that the first SIGINT or SIGTERM cancels.
func signals(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// An action is what a command does with its arguments.
type action func(ctx context.Context, args []string) error

// stoppable returns run with a context that the first SIGINT or SIGTERM cancels. It then fails with
// exit code 11 and says how it leaves the data, unless run has an answer of its own.
func stoppable(run action, leaves ...string) action {
	return func(ctx context.Context, args []string) error {
		ctx, stop := signals(ctx)
		defer stop()
		err := run(ctx, args)
		var coded *codedError
		if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || !errors.As(err, &coded)) {
			return fail(exitStopped, "%s", strings.Join(append([]string{"stopped"}, leaves...), "; "))
		}
		return err
	}
}

// one is the Args of a command that takes one argument, which what describes.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(exitUsage, "%s takes %s, got %d arguments",
				strings.TrimPrefix(cmd.CommandPath(), "gazehound "), what, len(args))
		}
		return nil
	}
}

// noArgs is the Args of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fail(exitUsage, "%s takes no arguments, got %.60q; --data names the data directory",
			strings.TrimPrefix(cmd.CommandPath(), "gazehound "), args[0])
	}
	return nil
}

// oneLine replaces line breaks and control characters, so that foreign text cannot forge lines or
// colours of the terminal.
func oneLine(s string) string { return textutil.OneLine(s) }

// didYouMean returns ` Did you mean "x"?` for the nearest of names, or "".
func didYouMean(given string, names []string) string { return textutil.DidYouMean(given, names) }
