package main

import (
	"cmp"
	"context"
	"errors"
	"io"

	"gazehound/crawler/warc"
	"gazehound/gazetteer"

	"github.com/spf13/cobra"
)

func newExportCDXJCommand(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "cdxj [FILE|DIR…]",
		Short: "Write the index of the WARC files of the crawl",
		Long: `Writes a line for every response in the WARC files of the crawl (crawl --warc), or
in those that are named: sortable URL, time, and where the record lies. The lines
are sorted by their bytes (LC_ALL=C sort -c), as pywb and other replay tools
want them.`,
		Example: `  gazehound export cdxj -o all.cdxj
  gazehound export cdxj archive/*.warc.gz`,
		RunE: stoppable(func(ctx context.Context, args []string) error {
			archive, err := a.openOwnArchive(args)
			if err != nil {
				return err
			}
			defer archive.Close()
			return a.writeExport(output, "", func(w io.Writer) error { return archive.WriteCDXJ(ctx, w) })
		}),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "-", "`FILE` to write; - is standard output")
	return cmd
}

func newExportWACZCommand(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "wacz [FILE|DIR…]",
		Short: "Pack the WARC files of the crawl into one file for replay",
		Long: `Packs the WARC files of the crawl (crawl --warc), or those that are named, with an
index and the list of relevant pages into one WACZ 1.1.1 file, which
replayweb.page and other replay tools open in parts. The same archive gives the
same bytes. After "forget" it has to be made again.`,
		Example: `  gazehound export wacz -o crawl.wacz
  gazehound export wacz archive/*.warc.gz -o some.wacz`,
		RunE: stoppable(func(ctx context.Context, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			archive, err := a.openOwnArchive(args)
			if err != nil {
				return err
			}
			defer archive.Close()
			title := cfg.Region.Name
			if r, err := gazetteer.ReadRegion(project{a.data}.region()); err == nil {
				title = cmp.Or(title, r.Name)
			}
			o := warc.WACZOptions{Title: "Crawl of " + title, Software: "gazehound/" + version}
			if title == "" {
				o.Title = "Crawl"
			}
			err = a.writeExport(output, "", func(w io.Writer) error { return archive.WriteWACZ(ctx, w, o) })
			if errors.Is(err, context.Canceled) {
				return fail(exitStopped, "stopped; the export is not complete")
			} else if err != nil || output == "-" {
				return err
			}
			s := archive.Stats()
			if a.json {
				return a.printJSON(map[string]any{"type": "summary", "format": "wacz", "file": output, "warc_files": s.Files, "captures": s.Responses})
			}
			a.say("%s in %s → %s", several(s.Responses, "capture"), several(s.Files, "WARC file"), output)
			return nil
		}),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "-", "`FILE` to write; - is standard output")
	return cmd
}

// openOwnArchive opens the named WARC files, or those of the project's crawls.
func (a *app) openOwnArchive(names []string) (*warc.Archive, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		if err := a.needData(); err != nil {
			return nil, err
		}
		if names, err = (project{a.data}).archiveFolders(); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fail(exitNoData, "%s has no WARC files. \"gazehound crawl --warc DIR\" writes them; others can be named", a.data)
		}
	}
	return a.openRecorded(cfg, false, names...)
}
