package main

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/cmd/gazehound/config"
	"gazehound/cmd/gazehound/forget"

	"github.com/spf13/cobra"
)

// A Config is the configuration in force.
type Config struct {
	config.Options
	origin  config.Origin
	blocked *forget.Current // of the data directory
}

// DefaultConfig returns the configuration that config.yaml shows.
func DefaultConfig() Config { return Config{Options: config.All().Defaults()} }

// config reads the configuration: defaults, files, the last ones of them more, environment, then the
// flags given. Its errors have exit code 4.
func (a *app) config(more ...config.File) (*Config, error) {
	files, err := a.configFiles()
	if err != nil {
		return nil, err
	}
	o, origin, err := config.All().Load(append(files, more...), a.flags)
	if err != nil {
		return nil, fail(badInput, "%s", oneLine(err.Error()))
	}
	c := &Config{Options: *o, origin: origin}
	if err := c.Validate(origin); err != nil {
		return nil, invalid(err)
	}
	blocked, err := forget.Dir(a.data).Blocklist()
	if err != nil {
		return nil, invalid(err)
	}
	c.blocked = forget.NewCurrent(blocked)
	a.Configure(c.Log.Level, c.Log.Format)
	return c, nil
}

// configFiles reads the configuration files, the one with the lowest precedence first.
func (a *app) configFiles() ([]config.File, error) {
	var candidates []string
	if dir, err := os.UserConfigDir(); err == nil {
		candidates = append(candidates, filepath.Join(dir, "gazehound", "config.yaml"))
	}
	if a.configFile == "" {
		candidates = append(candidates, "config.yaml")
	}
	candidates = append(candidates, filepath.Join(a.data, "config.yaml"))
	if a.configFile != "" {
		candidates = append(candidates, a.configFile)
	}
	files, err := config.ReadFiles(a.stdin, a.configFile, candidates...)
	if err != nil {
		return nil, fail(badInput, "config: %w", err)
	}
	return files, nil
}

const configHelp = `Examples:
  gazehound config check
  gazehound config show --origin
`

func newConfigCommand(a *app) *cobra.Command {
	return group("config", "Show and check the configuration", configHelp, newConfigShowCommand(a),
		newConfigCheckCommand(a))
}

const configCheckHelp = `Examples:
  gazehound config check
  gazehound config check --config other.yaml
`

func newConfigCheckCommand(a *app) *cobra.Command {
	return command("check", "Check the configuration files", configCheckHelp, noArgs,
		func(ctx context.Context, args []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			set, _ := c.origin.Set()
			return a.tell(fields{"type": "config", "keys_set": set, "unknown": 0},
				"configuration is valid: %d keys set, 0 unknown\n", set)
		})
}

const configShowHelp = `Examples:
  gazehound config show --origin
  GAZEHOUND_CRAWL__MAX_PAGES=100 gazehound config show --json
`

func newConfigShowCommand(a *app) *cobra.Command {
	var withOrigin bool
	cmd := command("show", "Print every value in force", configShowHelp, noArgs,
		func(ctx context.Context, args []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			return a.showConfig(c, withOrigin)
		})
	cmd.Flags().BoolVar(&withOrigin, "origin", false, "show where each value comes from")
	return cmd
}

// showConfig prints every value, sorted by key.
func (a *app) showConfig(c *Config, withOrigin bool) error {
	values := config.All().Values(&c.Options)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		if text, ok := value.(fmt.Stringer); ok {
			value = text.String()
		}
		line := fmt.Sprintf("%-32s %v", key, value)
		if withOrigin {
			line = fmt.Sprintf("%-72s %s", line, c.origin[key])
		}
		err := a.tell(fields{"type": "config", "key": key, "value": value, "origin": c.origin[key]}, "%s\n",
			strings.TrimRight(line, " "))
		if err != nil {
			return err
		}
	}
	return nil
}
