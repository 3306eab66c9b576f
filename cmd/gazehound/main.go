// Command gazehound finds the addresses of a city on the web: it crawls for pages with addresses of
// one region, learns which links lead to them, and serves a search over what it found. Each command
// is one file; commands.go lists them, and exit.go has the exit codes.
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

	"gazehound/internal/console"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

	args    []string       // as given, without the program's name
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
	a.args = args
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
			if err := checkNeeds(cmd.Flags()); err != nil {
				return err
			}
			a.flags = cmd.Flags()
			a.dataGiven = cmd.Flags().Changed("data")
			a.Configure("info", a.Format)
			switch command := strings.TrimPrefix(cmd.CommandPath(), "gazehound "); {
			case a.beside != nil:
				return a.enterCrawl(command)
			case a.readsBeside(command):
				return errBeside
			}
			return nil
		},
	}
	root.Version = version
	root.SetVersionTemplate(versionText())
	root.Flags().Bool("version", false, "print the version")
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
	return fail(badUsage, "unknown command %q.%s \"%s --help\" lists the commands", name, didYouMean(name, names),
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
		return fail(badUsage, "%w", refused)
	} else if errors.As(err, &bad) {
		f := bad.GetFlag()
		want := cmp.Or(wanted[strings.TrimRight(f.Value.Type(), "0123456789")], "another value")
		return fail(badUsage, "--%s must be %s, got %q", f.Name, want, bad.GetValue())
	}
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return fail(badUsage, "unknown flag --%s.%s \"%s --help\" lists the flags", name,
			didYouMean("--"+name, names), cmd.CommandPath())
	}
	return fail(badUsage, "%s. \"%s --help\" lists the flags", text, cmd.CommandPath())
}

// flagGroup matches the flags in cobra's errors about those that exclude each other, and about those
// of which one is required.
var flagGroup = regexp.MustCompile(`\[([^\]]+)\] (were all set|is required)$`)

// groupError rewrites cobra's errors about groups of flags.
func groupError(err error) error {
	m := flagGroup.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return fail(badUsage, "%w", err)
	case m[2] == "is required":
		return fail(badUsage, "one of --%s is required", strings.ReplaceAll(m[1], " ", ", --"))
	}
	return fail(badUsage, "--%s contradict each other. Leave out all but one",
		strings.ReplaceAll(m[1], " ", " and --"))
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

// one is the Args of a command that takes one argument, which what describes.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(badUsage, "%s takes %s, got %d arguments",
				strings.TrimPrefix(cmd.CommandPath(), "gazehound "), what, len(args))
		}
		return nil
	}
}

// noArgs is the Args of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fail(badUsage, "%s takes no arguments, got %.60q; --data names the data directory",
			strings.TrimPrefix(cmd.CommandPath(), "gazehound "), args[0])
	}
	return nil
}

// oneLine replaces line breaks and control characters, so that foreign text cannot forge lines or
// colours of the terminal.
func oneLine(s string) string { return textutil.OneLine(s) }

// didYouMean returns ` Did you mean "x"?` for the nearest of names, or "".
func didYouMean(given string, names []string) string { return textutil.DidYouMean(given, names) }
