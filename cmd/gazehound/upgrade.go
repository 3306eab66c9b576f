package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order/sitewide"
	"gazehound/index"
	"gazehound/internal/check/machine"
	"gazehound/internal/disk"
	"gazehound/internal/textutil"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

// "gazehound upgrade" makes the stores that are of an older format anew in the folder upgrade of the data
// directory, and puts them in the place of the old ones in the end. plan.json says what they are made from;
// once the file done is there, only names change.

const upgradeHelp = `Remakes the data of an older version, of which other commands say that its format is older.
Nothing is fetched. The crawl tree is copied; the index is made anew from the pages that
"crawl --warc" recorded, with today's geoparser and the labels of the project, and the
copy of the tree gets the new verdicts; the model is trained on the tree. WARC files are
those of the project, or the files and folders that are named. What the queue, the
schedule of revisits, robots.txt rules and orders say stays.

Where a page was not recorded, only its visit is known. Relevant pages of that kind are
listed as not remade, and the next "crawl --revisit" or "run" reads them first, so that
without WARC files the index fills again in the next round. A crawl tree that is too old
to be read is made from the WARC files as "replay" does it; without them only "crawl
--fresh" is left. A gazetteer of an older format is imported again, before the upgrade.

The new data are made in the folder upgrade of the data directory, which must have room
for tree and index a second time. The old ones stay as they are until all is done, and
then move to the folder before-upgrade-TIME; move them back to use the version before,
or delete the folder. After a kill or Ctrl-C the same command goes on. End crawls and
servers first.

Exit status: 0 done, or nothing to do, 4 unusable input or nothing to remake the data
from, 5 a crawl or a server works with the data, 6 done, but pages were not recorded or
their records are damaged, 10 no data, 11 stopped by a signal, 16 too little room.

Examples:
  gazehound upgrade
  gazehound upgrade --dry-run
  gazehound upgrade --data gazehound-data /mnt/archive --json
`

func newUpgradeCommand(a *app) *cobra.Command {
	var dryRun bool
	cmd := command("upgrade [FILE|DIR…]",
		"Remake the data of an older version from crawl tree and archives; no network", upgradeHelp,
		cobra.ArbitraryArgs, stoppable(func(ctx context.Context, args []string) error {
			return a.upgrade(ctx, args, dryRun)
		}, "the old data were not touched, and the same command resumes"))
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be remade, and from what")
	return cmd
}

func (p project) upgrading() project  { return project{filepath.Join(p.dir, "upgrade")} }
func (p project) upgradePlan() string { return filepath.Join(p.upgrading().dir, "plan.json") }
func (p project) upgradeDone() string { return filepath.Join(p.upgrading().dir, "done") }

// stores returns what an upgrade replaces.
func (p project) stores() []string { return []string{p.frontier(), p.index(), p.model()} }

// keptBefore begins the names of the folders that an upgrade moves the old stores to.
const keptBefore = "before-upgrade-"

// An upgradePlan says what is made, and from what.
type upgradePlan struct {
	From     string   `json:"from"` // what the old stores were, see standing
	Keep     string   `json:"keep"` // folder in the data directory that the old stores are moved to
	Archives []string `json:"archives,omitempty"`
	Tree     int      `json:"tree,omitempty"`  // format of the crawl tree if it is older
	Index    int      `json:"index,omitempty"` // format of the index if it is older
	Model    string   `json:"model,omitempty"` // why the model cannot be used; "": it can, or there is none
}

// CopiesTree reports whether the crawl tree is copied: pages that are judged again change it.
func (u *upgradePlan) CopiesTree() bool { return u.ReadsTree() && (u.Tree > 0 || u.Index > 0) }

// ReadsTree reports whether the crawl tree can be read; else it is made from the archives.
func (u *upgradePlan) ReadsTree() bool { return u.Tree == 0 || frontier.CanUpgrade(u.Tree) }

// Judges reports whether recorded pages are judged again.
func (u *upgradePlan) Judges() bool { return u.Index > 0 || !u.ReadsTree() }

// An upgradeSummary is the result of an upgrade.
type upgradeSummary struct {
	Type string `json:"type"`
	upgradePlan
	Pages        int64  `json:"pages"` // of the crawl tree
	Queued       int64  `json:"queued"`
	Responses    int64  `json:"responses"` // recorded ones that were judged again
	Addresses    int    `json:"addresses"` // of the index
	Compared     int64  `json:"verdicts_compared"`
	Changed      int64  `json:"verdicts_changed"`
	WithoutCopy  int    `json:"pages_without_copy"` // relevant ones, of which nothing was recorded
	Example      string `json:"example,omitempty"`  // of those
	DamagedFiles int    `json:"damaged_files"`
	ExitCode     int    `json:"exit_code"`
}

// An upgrade makes the stores of the project p anew in the folder of the project work.
type upgrade struct {
	*app
	p, work project
	cfg     *Config
	plan    upgradePlan
	result  upgradeSummary
}

func (a *app) upgrade(ctx context.Context, archives []string, dryRun bool) (err error) {
	if err := a.needFolder(); err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	p := project{a.data}
	u := &upgrade{app: a, p: p, work: p.upgrading(), cfg: cfg}
	unlock, err := p.lockForUpgrade()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if fileExists(p.upgradeDone()) {
		return u.replaceStores()
	}
	err = u.makePlan(archives)
	if err != nil {
		return err
	}
	if u.plan.Tree == 0 && u.plan.Index == 0 && u.plan.Model == "" {
		err := os.RemoveAll(u.work.dir)
		if err != nil { // left by a kill at the end
			return err
		}
		return a.tell(fields{"type": "summary", "tree": 0, "index": 0, "exit_code": exitOK},
			"Nothing to upgrade: %s is of this version.\n", p.dir)
	}
	err = u.announce()
	if err != nil || dryRun {
		return err
	}
	err = u.makeStores(ctx)
	if err != nil {
		return err
	}
	return u.replaceStores()
}

// lockForUpgrade keeps other upgrades out of the data directory. It fails with exit code 5 while a
// process uses the stores.
func (p project) lockForUpgrade() (unlock func() error, err error) {
	unlock, err = disk.LockDir(p.dir, false)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fail(inUse, "another command is changing %s. Try again when it is done", p.dir)
	} else if err != nil {
		return nil, err
	}
	for _, store := range []string{p.frontier(), p.index()} {
		free, err := disk.LockDir(store, false)
		switch {
		case err == nil:
			err = free()
		case errors.Is(err, disk.ErrLocked):
			err = fail(inUse, "%s is in use by a crawl, a server or another command. End it first; \"gazehound "+
				"ctl stop\" ends a crawl", store)
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		}
		if err != nil {
			return nil, errors.Join(err, unlock())
		}
	}
	return unlock, nil
}

// makePlan finds out which stores are of an older format, and what there is to remake them from.
func (u *upgrade) makePlan(archives []string) error {
	p, plan := u.p, &u.plan
	tree, err := frontier.FormatOf(p.frontier())
	noTree := errors.Is(err, fs.ErrNotExist)
	switch {
	case err == nil && tree > frontier.Format:
		err = frontier.CheckFormat(p.frontier())
	case err == nil && tree < frontier.Format:
		plan.Tree = tree
	}
	if err != nil && !noTree {
		return storeError(p, err)
	}
	of, err := index.FormatOf(p.index())
	switch {
	case err == nil && of > index.Format:
		_, err = openIndexToRead(p)
	case err == nil && of < index.Format:
		plan.Index = of
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storeError(p, err)
	}
	_, err = predictor.Load(p.model(), u.cfg.ModelOptions())
	switch {
	case errors.Is(err, predictor.ErrOlderFormat):
		plan.Model = "of an older format"
	case errors.Is(err, predictor.ErrFeatures):
		plan.Model = "trained on other features of links"
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return invalid(err)
	}
	plan.Archives, err = u.archives(archives)
	if err != nil {
		return err
	}
	if (noTree || !plan.ReadsTree()) && plan.Judges() && len(plan.Archives) == 0 {
		return fail(badInput, "%s cannot be remade: this version reads crawl trees from format %d on, and there "+
			"are no WARC files. \"gazehound crawl --fresh --data %s\" crawls again; name the files if they are elsewhere",
			p.dir, frontier.OldestFormat, textutil.ShellQuote(p.dir))
	}
	plan.From, err = u.standing()
	return err
}

// archives returns the absolute paths of the WARC files: of those given, else of the project's own.
func (u *upgrade) archives(given []string) (paths []string, err error) {
	if len(given) == 0 {
		m, err := u.ownManifest()
		if err != nil {
			return nil, err
		}
		for _, what := range m.Missing() {
			u.warn("%s", what)
		}
		given = slices.DeleteFunc(m.Folders(), func(dir string) bool { return !fileExists(dir) })
	}
	for _, name := range given {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// standing returns a hash of all that the new stores are made from: what was begun is continued only if
// nothing has changed.
func (u *upgrade) standing() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, frontier.Format, index.Format, u.plan.Archives)
	for _, store := range u.p.stores() {
		err := filepath.WalkDir(store, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				fmt.Fprintln(h, name, info.Size(), info.ModTime().UnixNano())
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

var upgradePlanText = textTemplate(`{{with .plan}}{{/**/ -}}
{{if .Tree}}crawl tree   format {{.Tree}}, this version writes {{$.format}}: {{/**/ -}}
{{if .CopiesTree}}it is copied{{else}}{{/**/ -}}
too old to be read; it is made from the WARC files, and what they lack is unknown again{{end}}
{{else if .CopiesTree}}crawl tree   it is copied, and the copy gets the new verdicts
{{end}}{{if .Judges}}index        {{with .Index}}format {{.}}, this version writes {{$.index}}: {{end}}{{/**/ -}}
{{if .Archives}}made from the pages recorded in {{shell (join .Archives ", ")}}{{else}}{{/**/ -}}
there are no WARC files to make it from; the next crawl reads relevant pages again{{end}}
{{end}}{{with .Model}}model        {{.}}: trained anew on the crawl tree
{{end}}{{end}}`)

// announce says what will be remade.
func (u *upgrade) announce() error {
	if u.json {
		return u.printJSON(struct {
			Type string `json:"type"`
			upgradePlan
		}{"plan", u.plan})
	}
	u.sayText(upgradePlanText, fields{"plan": &u.plan, "format": frontier.Format, "index": index.Format})
	return nil
}

// makeStores makes the new stores, or goes on with what an upgrade that was interrupted has made of them.
func (u *upgrade) makeStores(ctx context.Context) error {
	err := u.begin()
	if err != nil {
		return err
	}
	if u.plan.CopiesTree() && !fileExists(u.work.frontier()) {
		u.say("The crawl tree is copied …")
		part := u.work.frontier() + ".part"
		err := os.RemoveAll(part)
		if err != nil {
			return err
		}
		err = frontier.Upgrade(u.p.frontier(), part)
		if err != nil {
			return storeError(u.p, err)
		}
		err = os.Rename(part, u.work.frontier())
		if err != nil {
			return err
		}
	}
	s := &session{a: u.app, p: u.p, cfg: u.cfg}
	err = u.fillStores(ctx, s)
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	text, err := json.Marshal(u.result)
	if err == nil {
		err = disk.SyncTree(u.work.dir)
	}
	if err == nil {
		err = disk.ReplaceBytes(u.p.upgradeDone(), 0o644, text)
	}
	return err
}

// begin makes the folder of the new stores, or finds one of an upgrade with the same plan.
func (u *upgrade) begin() error {
	var begun upgradePlan
	text, err := os.ReadFile(u.p.upgradePlan())
	if err == nil && json.Unmarshal(text, &begun) == nil && begun.From == u.plan.From {
		u.say("An interrupted upgrade is resumed.")
		u.plan = begun
		return nil
	}
	need := uint64(machine.FolderSize(u.p.index()))
	if u.plan.CopiesTree() {
		need += uint64(machine.FolderSize(u.p.frontier()))
	}
	free, err := disk.Free(u.p.dir)
	if err == nil && free < need+uint64(u.cfg.Storage.DiskReserve) {
		return fail(diskReserve, "the old data stay until the new ones are made, which takes about %s, and only %s "+
			"are free for %s; storage.disk_reserve keeps %v", megabytes(int64(need)), megabytes(int64(free)), u.p.dir,
			u.cfg.Storage.DiskReserve)
	}
	err = os.RemoveAll(u.work.dir)
	if err != nil {
		return err
	}
	err = os.MkdirAll(u.work.dir, 0o755)
	if err != nil {
		return err
	}
	// its labels are taken over into the log of corrections
	err = disk.CopyMissing(u.work.dir, u.p.dir, oldLabels)
	if err != nil {
		return err
	}
	u.plan.Keep = u.p.nameKept()
	text, err = json.Marshal(u.plan)
	if err != nil {
		return err
	}
	return disk.ReplaceBytes(u.p.upgradePlan(), 0o644, text)
}

// nameKept returns a name for the folder of the old stores that no upgrade of the same second has.
func (p project) nameKept() string {
	now := keptBefore + time.Now().UTC().Format("20060102-150405")
	name := now
	for n := 2; fileExists(filepath.Join(p.dir, name)); n++ {
		name = fmt.Sprintf("%s-%d", now, n)
	}
	return name
}

// fillStores brings the stores of s up to date, which it opens.
func (u *upgrade) fillStores(ctx context.Context, s *session) (err error) {
	u.result = upgradeSummary{Type: "summary", upgradePlan: u.plan}
	switch {
	case u.plan.Judges():
		err = u.judgeAgain(ctx, s)
	case u.plan.CopiesTree():
		s.f, err = u.work.openCrawl(int64(u.cfg.Storage.Memory))
	default:
		s.f, err = u.p.openCrawl(int64(u.cfg.Storage.Memory))
	}
	if err != nil {
		return err
	}
	if !u.plan.Judges() {
		s.onClose(s.f.Close)
		s.model = predictor.NewModel(u.cfg.LearningOptions())
	}
	if u.plan.Model != "" {
		u.say("The link predictor is trained …")
		err = s.trainAnew(ctx, s.f, u.work.model())
	}
	t := s.f.Totals()
	u.result.Pages, u.result.Queued = t.Pages, t.Queued
	return err
}

// judgeAgain opens the stores of s and fills them from the recorded pages.
func (u *upgrade) judgeAgain(ctx context.Context, s *session) error {
	err := s.openJudge()
	if err != nil {
		return err
	}
	scope, err := newScope(u.cfg, crawlOptions{replay: u.plan.Archives})
	if err != nil {
		return err
	}
	if u.plan.Model == "" {
		err := disk.CopyMissing(u.work.dir, u.p.dir, filepath.Base(u.p.model()))
		if err != nil {
			return err
		}
	}
	s.corrections, err = u.corrections(u.p)
	if err != nil {
		return err
	}
	s.p = u.work
	err = s.openFrontier(u.p, u.plan.Model != "", newTraps(u.cfg, scope))
	if err != nil {
		return err
	}
	s.learned.SiteWide = sitewide.New()
	err = s.learned.Restore(ctx)
	if err != nil {
		return err
	}
	err = s.openIndex()
	if err != nil {
		return err
	}
	if len(u.plan.Archives) > 0 {
		if err := u.replay(ctx, s, scope); err != nil {
			return err
		}
	}
	gone := func(ctx context.Context, url string, since time.Time) error {
		return s.x.Renew(ctx, index.Document{URL: url, Fetched: since})
	}
	u.result.WithoutCopy, u.result.Example, err = crawler.Reconcile(ctx, s.f, s.x.Pages, gone)
	if err != nil {
		return err
	}
	err = s.correctIndex(ctx)
	if err != nil {
		return err
	}
	stats, err := s.x.Stats(ctx)
	u.result.Addresses = stats.Addresses
	return errors.Join(err, s.learned.Save())
}

// upgradedMeta is the name of the frontier's meta value that holds how far the recorded pages are judged.
const upgradedMeta = "upgraded"

// A replayPosition is the value of upgradedMeta.
type replayPosition struct {
	Exchanges, Compared, Changed int64
}

// replay judges the recorded pages that are not judged yet.
func (u *upgrade) replay(ctx context.Context, s *session, scope *crawler.Scope) error {
	archive, err := u.openRecorded(u.cfg, false, u.plan.Archives...)
	if err != nil {
		return err
	}
	defer archive.Close()
	u.result.DamagedFiles = archive.Stats().Damaged
	c, err := s.replayer(ctx, scope)
	if err != nil {
		return err
	}
	var at replayPosition
	text, err := s.f.Meta(upgradedMeta)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &at)
	}
	if err != nil {
		return err
	}
	before, r := at, crawler.Comparison{}
	save := func() error {
		text, err := json.Marshal(at)
		return errors.Join(err, s.f.PutMeta(upgradedMeta, text))
	}
	var failed error
	saved, said := time.Now(), time.Now()
	committed := func(n int64) {
		at = replayPosition{n, before.Compared + r.Compared, before.Changed + r.Verdicts}
		if time.Since(saved) >= time.Second {
			failed, saved = cmp.Or(failed, save()), time.Now()
		}
		if time.Since(said) >= upgradeNews {
			u.tellProgress(n, int64(archive.Stats().Responses))
			said = time.Now()
		}
	}
	err = c.Replay(ctx, s.f, from(before.Exchanges, r.Exchanges(ctx, archive, u.cfg.blocked.Has), committed))
	u.result.Responses, u.result.Compared, u.result.Changed = r.Responses, at.Compared, at.Changed
	return cmp.Or(err, failed, save())
}

// upgradeNews is the time between two reports of progress.
const upgradeNews = 2 * time.Second

// from returns the exchanges after the first skip ones. committed is called for each with the number of all
// until then.
func from(
	skip int64, all iter.Seq2[crawler.Exchange, error], committed func(n int64),
) iter.Seq2[crawler.Exchange, error] {
	return func(yield func(crawler.Exchange, error) bool) {
		n := int64(0)
		for x, err := range all {
			n++
			if err == nil && n <= skip {
				continue
			}
			number, compare := n, x.Committed
			x.Committed = func(v *crawler.Visit) {
				compare(v)
				committed(number)
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

// tellProgress says how many recorded responses are judged.
func (u *upgrade) tellProgress(done, all int64) {
	if u.json {
		u.printJSON(fields{"type": "progress", "responses": done, "of": all})
		return
	}
	u.say("%s of %s judged again", count(done), several(all, "recorded response"))
}

var upgradedText = textTemplate(`{{with .r}}{{/**/ -}}
{{several .Pages "page"}} and {{several .Queued "link"}} that wait in the crawl tree
{{if .Judges}}{{several .Addresses "address"}} in the index, from {{several .Responses "recorded response"}}; {{/**/ -}}
{{if .Compared}}of {{several .Compared "verdict"}}, {{count .Changed}} changed{{else}}{{/**/ -}}
there were no verdicts to compare with{{end}}
{{end}}{{with .WithoutCopy}}{{/**/ -}}
Not remade: {{several . "relevant page"}} without a recorded copy, such as {{line $.r.Example}}
  "gazehound crawl --revisit" and "gazehound run" read such pages first.
{{end}}{{with .DamagedFiles}}Not remade: the damaged records of {{several . "WARC file"}}, see the warnings.
{{end}}{{end}}The old files are in {{.keep}}. To go back, move them over the new ones in {{.data}}
  and use the version before. Once you are content, delete that folder.
`)

// replaceStores moves the old stores aside and the new ones to their place. A kill in between leaves the
// rest to the next call; until then other commands are refused.
func (u *upgrade) replaceStores() error {
	text, err := os.ReadFile(u.p.upgradeDone())
	if err == nil {
		err = json.Unmarshal(text, &u.result)
	}
	if err != nil {
		return err
	}
	keep := filepath.Join(u.p.dir, u.result.Keep)
	err = os.MkdirAll(keep, 0o755)
	if err != nil {
		return err
	}
	for _, store := range u.p.stores() {
		made, kept := filepath.Join(u.work.dir, filepath.Base(store)), filepath.Join(keep, filepath.Base(store))
		if !fileExists(made) {
			continue
		}
		if fileExists(store) {
			err := os.Rename(store, kept)
			if err != nil {
				return err
			}
		}
		err := os.Rename(made, store)
		if err != nil {
			return err
		}
	}
	err = os.Rename(filepath.Join(u.work.dir, oldLabels), filepath.Join(keep, oldLabels))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = errors.Join(disk.SyncDir(keep), disk.SyncDir(u.p.dir), os.RemoveAll(u.work.dir))
	if err != nil {
		return err
	}
	if u.result.WithoutCopy > 0 || u.result.DamagedFiles > 0 {
		u.result.ExitCode = answerNo.code()
	}
	err = u.show(u.result, upgradedText, fields{"r": &u.result, "keep": keep, "data": u.p.dir})
	if err == nil && u.result.ExitCode != exitOK {
		err = silentExit(answerNo)
	}
	return err
}
