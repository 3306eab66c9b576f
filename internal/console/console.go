// Package console writes messages on standard error: lines of text, or one JSON object per line.
package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"strings"
	"time"

	"gazehound/internal/textutil"

	"golang.org/x/term"
)

// Formats are the formats of messages.
var Formats = []string{"text", "json"}

// A Console writes messages. The zero Console with an Err writes text at level info. All methods
// but Configure are safe for concurrent use.
type Console struct {
	Err     io.Writer
	Quiet   bool           // warnings and errors only, whatever is configured
	Verbose int            // above 0: level debug
	Format  string         // one of Formats, whatever is configured; "": as configured
	Columns int            // of the terminal that Err is; 0: it is none
	level   *slog.LevelVar // nil: info
	log     *slog.Logger   // of lines of JSON; nil: text
}

// Configure sets the level, "warn", "info" or "debug", and the format, unless the fields above set
// them. JSON is never switched back to text.
func (c *Console) Configure(level, format string) {
	if c.level == nil {
		c.level = new(slog.LevelVar)
	}
	switch {
	case c.Quiet || level == "warn" && c.Verbose == 0:
		c.level.Set(slog.LevelWarn)
	case c.Verbose > 0 || level == "debug":
		c.level.Set(slog.LevelDebug)
	default:
		c.level.Set(slog.LevelInfo)
	}
	if c.log == nil && cmp.Or(c.Format, format) == "json" {
		c.log = c.JSON(c.level)
	}
}

// Level returns the level.
func (c *Console) Level() slog.Level {
	if c.level == nil {
		return slog.LevelInfo
	}
	return c.level.Level()
}

// SetLevel changes the level of c and its copies, after Configure.
func (c *Console) SetLevel(level slog.Level) { c.level.Set(level) }

// Says reports whether messages of this level are written.
func (c *Console) Says(level slog.Level) bool { return level >= c.Level() }

// Log is the logger of lines of JSON, or nil for text.
func (c *Console) Log() *slog.Logger { return c.log }

// JSON returns a logger of lines of JSON with times of UTC.
func (c *Console) JSON(level slog.Leveler) *slog.Logger {
	inUTC := func(groups []string, at slog.Attr) slog.Attr {
		if len(groups) == 0 && at.Key == slog.TimeKey {
			at.Value = slog.TimeValue(at.Value.Time().UTC())
		}
		return at
	}
	return slog.New(slog.NewJSONHandler(c.Err, &slog.HandlerOptions{Level: level, ReplaceAttr: inUTC}))
}

// Say writes a line for people.
func (c *Console) Say(format string, args ...any) {
	switch {
	case c.log != nil:
		c.log.Info(textutil.OneLine(strings.TrimSpace(fmt.Sprintf(format, args...))))
	case c.Says(slog.LevelInfo):
		c.write(fmt.Sprintf(format, args...))
	}
}

func (c *Console) write(text string) { io.WriteString(c.Err, textutil.Fit(text+"\n", c.Columns)) }

// Warn writes a warning.
func (c *Console) Warn(format string, args ...any) {
	if c.log != nil {
		c.log.Warn(textutil.OneLine(fmt.Sprintf(format, args...)))
		return
	}
	c.write(fmt.Sprintf("warning: "+format, args...))
}

// Failed writes why the program ends with an exit code.
func (c *Console) Failed(code int, why string) {
	if c.log != nil {
		c.log.Error(textutil.OneLine(why), "exit_code", code)
		return
	}
	c.write("error: " + textutil.OneLine(why))
}

// Line writes a line of values, whatever the level.
func (c *Console) Line(level slog.Level, what string, at time.Time, values iter.Seq2[string, any]) {
	if c.log != nil {
		line := slog.NewRecord(at, level, what, 0)
		for key, value := range values {
			line.Add(key, value)
		}
		c.log.Handler().Handle(context.Background(), line) // a line that cannot be written is lost
		return
	}
	text := at.UTC().Format(time.RFC3339) + " INFO " + what
	for key, v := range values {
		value := fmt.Sprint(v)
		if value == "" || strings.ContainsAny(value, " \"") {
			value = fmt.Sprintf("%q", value)
		}
		text += " " + key + "=" + value
	}
	fmt.Fprintln(c.Err, text)
}

// Columns returns the width of the terminal w; 0 if w is none, or one that cannot redraw.
func Columns(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || os.Getenv("CI") != "" || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}
