package main

import (
	"bufio"
	"fmt"
	"gazehound/crawler/weburl"
	"io"
	"os"
	"slices"
	"strings"
)

// maxSeedLine bounds a line of a seed file, in bytes.
const maxSeedLine = 64 << 10

// readSeeds reads start URLs, one a line; "#" starts a comment. Lines that
// cannot be used are warned of and counted.
func (a *app) readSeeds(name string, r io.Reader) (urls []weburl.URL, skipped int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSeedLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		u, problem := a.parseSeed(fmt.Sprintf("%s:%d", name, n), text)
		if problem != "" {
			a.warn("%s:%d: %s; line skipped", name, n, problem)
			skipped++
			continue
		}
		urls = append(urls, u)
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fail(exitInvalidInput, "seeds: %s: %w", name, err)
	}
	return urls, skipped, nil
}

// parseSeed returns the URL of one seed, or what is wrong with it.
func (a *app) parseSeed(where, text string) (u weburl.URL, problem string) {
	scheme, _, hasScheme := strings.Cut(text, "://")
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "mailto:"), strings.HasPrefix(lower, "tel:"), strings.HasPrefix(lower, "javascript:"):
		return u, fmt.Sprintf("%s is not crawled", strings.SplitN(lower, ":", 2)[0])
	case hasScheme && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return u, fmt.Sprintf("%.40q is not crawled", scheme)
	case !hasScheme && strings.ContainsAny(text, " \t"), !hasScheme && !strings.Contains(text, "."):
		return u, fmt.Sprintf("%.80q is no URL", text)
	case !hasScheme:
		a.warn("%s: %.80q has no scheme; using https://%.80s", where, text, oneLine(text))
		text = "https://" + text
	}
	u, err := weburl.Parse(text)
	if err != nil {
		return u, oneLine(err.Error())
	}
	return u, ""
}

// seeds collects the start URLs: flags and arguments first, then files, then
// the project's own list, then those of the topic; but for what was forgotten.
func (a *app) seeds(p project, cfg *Config, o crawlOptions) ([]weburl.URL, error) {
	var urls []weburl.URL
	skipped := 0
	for _, text := range o.seeds {
		u, problem := a.parseSeed("--seed", text)
		if problem != "" {
			return nil, fail(exitInvalidInput, "--seed %s", problem)
		}
		urls = append(urls, u)
	}
	files := cfg.Seeds.Files
	if len(files) == 0 && len(urls) == 0 {
		if _, err := os.Stat(p.seeds()); err == nil {
			files = []string{p.seeds()}
		}
	}
	for _, name := range files {
		found, bad, err := a.seedFile(name)
		if err != nil {
			return nil, err
		}
		urls, skipped = append(urls, found...), skipped+bad
	}
	if len(urls) == 0 && (len(cfg.Seeds.Files) > 0 || skipped > 0) { // the project's own list may be empty
		return nil, fail(exitInvalidInput, "no usable seed in %s (%d lines skipped)", strings.Join(files, ", "), skipped)
	}
	urls, err := a.topicSeeds(p, cfg, urls)
	if err != nil {
		return nil, err
	}
	given := len(urls)
	if urls = slices.DeleteFunc(urls, cfg.blocked.Has); len(urls) < given {
		a.warn("%d of %d seeds were forgotten (blocked.txt) and are left out", given-len(urls), given)
	}
	return urls, nil
}

// seedFile reads a file of seeds; - is standard input.
func (a *app) seedFile(name string) (urls []weburl.URL, bad int, err error) {
	file, err := a.openInput("seeds", name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	return a.readSeeds(name, file)
}
