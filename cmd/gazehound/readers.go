package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/predictor/clicklog"
)

// parseReaders reads the readers of a made-up web such as "logs=0.3,bias=4".
func parseReaders(spec string) (sim.ReaderOptions, error) {
	o := sim.DefaultReaderOptions()
	if spec == "default" {
		return o, nil
	}
	share := map[string]*float64{"visits": &o.Visits, "logs": &o.Logs, "unlinked": &o.Unlinked, "bias": &o.Bias, "important": &o.Important}
	known := append(slices.Sorted(maps.Keys(share)), "seed")
	for part := range strings.SplitSeq(spec, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		var err error
		switch {
		case share[name] != nil:
			*share[name], err = strconv.ParseFloat(text, 64)
		case name == "seed":
			o.Seed, err = strconv.ParseUint(text, 10, 64)
		default:
			return o, fmt.Errorf("%q is not one of %s.%s", oneLine(name), strings.Join(known, ", "), didYouMean(name, known))
		}
		if err != nil {
			return o, fmt.Errorf("%s wants a number, got %q", name, text)
		}
	}
	return o, o.Validate()
}

// A knowledge is what strategy trend is told of each made-up web: it holds the
// import of the web's access logs.
type knowledge map[*sim.Web]order.Options

// learn lets people read w, number n of the webs, and imports the logs that
// they leave, as "clickstream import" does.
func (k knowledge) learn(ctx context.Context, a *app, w *sim.Web, o sim.ReaderOptions, n int) (err error) {
	dir, err := os.MkdirTemp("", "gazehound-readers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "access.log")
	o.Seed += uint64(n)
	if err := writeFile(name, func(out io.Writer) error { return w.ReadBy(o, out) }); err != nil {
		return err
	}
	clicks := clicklog.DefaultOptions()
	clicks.Canonical = func(raw string) (string, bool) {
		u, err := weburl.Parse(raw)
		return u.String(), err == nil
	}
	s, err := clicklog.Open(filepath.Join(dir, "clickstream"), clicks)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	lines, err := a.importLog(ctx, s, name)
	if err != nil {
		return err
	}
	if _, err := s.Rank(ctx); err != nil {
		return err
	}
	table, err := clicklog.Load(filepath.Join(dir, "clickstream"))
	if err != nil {
		return err
	}
	known, err := knownPages(filepath.Join(dir, "clickstream"), w.Seeds)
	if err != nil {
		return err
	}
	k[w] = order.Options{Stay: stayOf(table), Known: known}
	all, unlinked := w.Important()
	a.say("  %s lines of logs name %s pages; of %d important pages nothing links to %d", count(int(lines.Lines)), count(table.Len()), all, unlinked)
	return nil
}

// simulateNuggets prints and draws figures 5 and 6 of Ahmadi-Abkenari & Selamat,
// measured by agents that talk over a JetStream server in this process.
func (a *app) simulateNuggets(ctx context.Context, o simulateOptions) (err error) {
	if o.trace != "" || len(o.warc) > 0 || o.demo != "" || o.nodes != "" {
		return fail(exitUsage, "--nuggets needs no web: leave out --trace, --warc, --demo and --nodes")
	}
	if o.format != "text" && o.format != "json" {
		return fail(exitUsage, "--nuggets writes text or json, got --format %q", o.format)
	}
	dir, err := os.MkdirTemp("", "gazehound-nuggets-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := cluster.Serve(cluster.ServerOptions{Name: "nuggets", Dir: dir, MaxBytes: 256e6})
	if err != nil {
		return err
	}
	defer server.Close()
	figures, err := sim.Nuggets(o.sim.Seed, func(f nugget.Format, queues [][]float64) ([]nugget.Nugget, int, int, error) {
		turns, heard, err := cluster.Agree(ctx, server, cluster.Order{URLs: len(queues[0]), Parts: f.Parts, Lambda: f.Lambda}, queues)
		return turns, int(heard.Bits), int(heard.Bytes), err
	})
	switch {
	case ctx.Err() != nil:
		return fail(exitStopped, "stopped")
	case err != nil:
		return err
	}
	if o.format == "json" {
		err = a.printJSON(map[string]any{"type": "nuggets", "agents": figures[0], "parts": figures[1]})
	} else {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		for i, rows := range figures {
			fmt.Fprintf(w, "figure %d\tagents\tparts\tbits of a nugget\tequation 8\tmeasured\tbytes on the wire\tprecision\t\n", 5+i)
			for _, r := range rows {
				fmt.Fprintf(w, "\t%d\t%d\t%d\t%d\t%d\t%d\t%.3f\t\n", r.Agents, r.Parts, r.Bits, r.Formula, r.Measured, r.Bytes, r.Precision)
			}
		}
		err = w.Flush()
	}
	if err != nil || o.plot == "" {
		return err
	}
	files, err := sim.PlotNuggets(o.plot, figures)
	if err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	a.say("drawn: %s", strings.Join(files, ", "))
	return nil
}
