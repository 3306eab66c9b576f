package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/internal/config"
	"gazehound/internal/forget"

	"github.com/spf13/cobra"
)

// A Config is the content of config.yaml; that file documents the keys.
type Config struct {
	Version   int `range:"1..1"`
	Region    RegionConfig
	Gazetteer GazetteerConfig
	Seeds     SeedsConfig
	Crawl     CrawlConfig
	Predictor PredictorConfig
	Fetch     FetchConfig
	Revisit   RevisitConfig
	Policy    PolicyConfig
	Storage   StorageConfig
	WARC      WARCConfig
	Serve     ServeConfig
	Admin     AdminConfig
	Cluster   ClusterConfig
	Log       LogConfig
	Hosts     map[string]HostConfig

	origin  config.Origin
	blocked forget.Blocklist // of the data directory
}

// The sections of config.yaml; package config explains the tags.
type (
	RegionConfig struct {
		Name     string
		Boundary string `flag:"region"`
		Country  string
	}
	GazetteerConfig struct {
		MinPrecision string `key:"min_precision" oneof:"auto|house|street|postcode"`
	}
	SeedsConfig struct {
		Files    []string `flag:"seeds"`
		Sitemaps bool
	}
	CrawlConfig struct {
		Judge      string
		Language   string
		Topic      string
		TopicShare float64 `key:"topic_share" range:"0.001..1"`
		Topics     string
		Examples   []string
		Strategy   string
		order.Settings
		MaxPages        int64         `key:"max_pages" range:"0.."`
		MaxTime         time.Duration `key:"max_time" range:"0s.."`
		MaxDepth        int           `key:"max_depth" range:"0.."`
		MaxPagesPerHost int64         `key:"max_pages_per_host" range:"0.."`
		MaxPagesPerPath int64         `key:"max_pages_per_path" range:"0.."`
		Selectivity     float64       `range:"0..0.99"`
		MaxFailures     int           `key:"max_failures" range:"0.."`
		Include         []string
		Exclude         []string
		RandomSeed      uint64 `key:"random_seed"`
	}
	PredictorConfig struct {
		Weight    float64       `range:"0.01..1"`
		Posterior string        `oneof:"tempered|raw"`
		Combine   string        `oneof:"mean|max"`
		MaxTerms  int           `key:"max_terms" range:"1000..100000000"`
		SaveEvery time.Duration `key:"save_every" range:"1s.."`
	}
	FetchConfig struct {
		Contact               string
		UserAgentName         string        `key:"user_agent_name"`
		Workers               int           `range:"1..1024"`
		Delay                 time.Duration `range:"0s..24h"`
		AdaptiveDelay         bool          `key:"adaptive_delay"`
		MaxCrawlDelay         time.Duration `key:"max_crawl_delay" range:"0s..24h"`
		Timeout               time.Duration `range:"10ms..1h"`
		Retries               int           `range:"0..20"`
		BackoffStart          time.Duration `key:"backoff_start" range:"0s..24h"`
		BackoffMax            time.Duration `key:"backoff_max" range:"0s..720h"`
		MaxBody               Size          `key:"max_body" range:"1KB..1GB"`
		MaxHeader             Size          `key:"max_header" range:"1KB..10MB"`
		ContentTypes          []string      `key:"content_types"`
		Cookies               string        `oneof:"none|site"`
		Proxy                 string
		AllowPrivateAddresses bool          `key:"allow_private_addresses"`
		ShutdownGrace         time.Duration `key:"shutdown_grace" range:"0s..1h"`
	}
	PolicyConfig struct {
		TDM          string `oneof:"respect|ignore"`
		TDMReason    string `key:"tdm_reason"`
		Persons      string `oneof:"drop|keep"`
		PersonsBasis string `key:"persons_basis"`
	}
	RevisitConfig struct {
		First, Min, Max time.Duration
	}
	StorageConfig struct {
		Memory      Size `range:"64MB..1TB"`
		DiskReserve Size `key:"disk_reserve"`
	}
	WARCConfig struct {
		Dir     string `flag:"warc"`
		MaxFile Size   `key:"max_file" range:"1MB..100GB"`
	}
	ServeConfig struct {
		Listen       string
		CORS         []string
		MaxLimit     int           `key:"max_limit" range:"1..500"`
		QueryTimeout time.Duration `key:"query_timeout" range:"10ms..5m"`
		Tiles        string
		TilesCredit  string `key:"tiles_attribution"`
		Hosts        []string
		Rate         float64 `range:"0..1000000"`
		RemovalForm  bool    `key:"removal_form"`
	}
	ClusterConfig struct {
		URL       string `flag:"cluster"`
		Crawl     string `flag:"crawl-name"`
		Name      string
		Listen    string
		Peers     string
		Routes    []string
		Partition string
		Policy    string `oneof:"A|B"`
		Nodes     string
		IPFile    string `key:"ip_file"`
		TokenFile string `key:"token_file"`
		NKeyFile  string `key:"nkey_file"`
		NKeys     []string
		TLSCert   string        `key:"tls_cert"`
		TLSKey    string        `key:"tls_key"`
		TLSCA     string        `key:"tls_ca"`
		Replicas  int           `range:"0..5"`
		Away      time.Duration `range:"10s.."`
		Lease     time.Duration `range:"10s..1h"`
		Linger    time.Duration `range:"0s..10m"`
		MaxBytes  Size          `key:"max_bytes" range:"16MB..1000TB"`
		WaitFor   int           `key:"wait_for" range:"1..10000"`
		Order     string        `oneof:"auto|own|nuggets"`
		Patience  time.Duration `range:"100ms..1h"`
	}
	AdminConfig struct {
		Listen    string `flag:"admin"`
		TokenFile string `key:"token_file"`
	}
	LogConfig struct {
		Level, Format string
	}
	HostConfig struct {
		Delay        time.Duration `range:"0s..24h"`
		Skip         bool
		MaxPages     int64             `key:"max_pages" range:"0.."`
		Paths        []PathConfig      // a list, because keys lose their case
		UserAgent    string            `key:"user_agent"`
		Headers      map[string]string // in lower case
		User         string
		PasswordEnv  string `key:"password_env"`
		PasswordFile string `key:"password_file"`
		PlainHTTP    bool   `key:"plain_http"`
	}
	PathConfig struct {
		Prefix   string
		MaxPages int64 `key:"max_pages"`
	}
)

// A Size is a number of bytes, written "2MB" or "500 kB" (powers of 1000) or
// as a plain number.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes float64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(text []byte) error {
	number, factor := strings.ToUpper(strings.TrimSpace(string(text))), 1.0
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n >= 0 && n*factor <= 1e18) {
		return fmt.Errorf("wants a size such as 2MB or 1GB, got %q", text)
	}
	*s = Size(n * factor)
	return nil
}

// Set parses a flag's value.
func (s *Size) Set(text string) error { return s.UnmarshalText([]byte(text)) }

// Type names the kind of a flag's value.
func (s *Size) Type() string { return "size" }

// String writes s with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if b := Size(u.bytes); s >= b && s%b == 0 {
			return fmt.Sprintf("%d%s", s/b, u.name)
		}
	}
	return "0"
}

// configYAML is the config.yaml at the top of the repository, which cannot be
// embedded from here: every option with its default and what it means.
//
//go:embed defaults.yaml
var configYAML []byte

// schema returns what config.yaml and Config say of the options.
var schema = sync.OnceValue(func() *config.Schema[Config] {
	s, err := config.New[Config](configYAML)
	if err != nil {
		panic(err)
	}
	return s
})

// DefaultConfig returns the configuration that config.yaml shows.
func DefaultConfig() Config { return schema().Defaults() }

// config reads the configuration: defaults, files, environment, then the flags
// that were given. Every error ends with exit code 4.
func (a *app) config() (*Config, error) {
	files, err := a.configFiles()
	if err != nil {
		return nil, err
	}
	c, origin, err := schema().Load(files, a.flags)
	if err != nil {
		return nil, fail(exitInvalidInput, "%s", oneLine(err.Error()))
	}
	c.origin = origin
	if err := c.Validate(); err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	if c.blocked, err = forget.Dir(a.data).Blocklist(); err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	a.setLevel(c.Log.Level)
	a.setFormat(c.Log.Format)
	return c, nil
}

// configFiles reads the configuration files, the weakest first.
func (a *app) configFiles() ([]config.File, error) {
	var candidates []string
	if dir, err := os.UserConfigDir(); err == nil {
		candidates = append(candidates, filepath.Join(dir, "gazehound", "config.yaml"))
	}
	if a.configFile == "" {
		candidates = append(candidates, "config.yaml")
	}
	candidates = append(candidates, filepath.Join(a.data, "config.yaml"))
	var names []string
	for _, name := range candidates {
		if _, err := os.Stat(name); err == nil {
			names = append(names, name)
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, fail(exitInvalidInput, "config: %w", err)
		}
	}
	if a.configFile != "" {
		names = append(names, a.configFile)
	}
	var files []config.File
	for _, name := range names {
		text, err := a.configFileText(name)
		if err != nil {
			return nil, fail(exitInvalidInput, "config: %w", err)
		}
		files = append(files, config.File{Name: name, Text: text})
	}
	return files, nil
}

// maxConfigFile bounds a configuration file, in bytes.
const maxConfigFile = 1 << 20

// configFileText reads a configuration file; "-" is standard input.
func (a *app) configFileText(name string) ([]byte, error) {
	in := io.NopCloser(a.stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in = f
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxConfigFile+1))
	if len(text) > maxConfigFile {
		return nil, fmt.Errorf("%s: larger than %d bytes, which is no configuration", name, maxConfigFile)
	}
	return text, err
}

// originOf tells where the value of a key such as crawl.max_pages comes from.
func (c *Config) originOf(key string) string { return c.origin[key] }

// Validate returns the first value that makes no sense, with its key, of what
// the tags of Config do not say.
func (c *Config) Validate() error {
	where := c.origin.Where
	checks := []error{
		config.OneOf(where("log.level"), c.Log.Level, logLevels...),
		config.OneOf(where("log.format"), c.Log.Format, logFormats...),
		config.OneOf(where("crawl.judge"), c.Crawl.Judge, judgeNames...),
		config.OneOf(where("crawl.strategy"), c.Crawl.Strategy, order.Names()...),
		config.OneOf(where("cluster.partition"), c.Cluster.Partition, partitionNames()...),
		c.validateStrategy(),
	}
	if c.Fetch.BackoffMax < c.Fetch.BackoffStart {
		checks = append(checks, fmt.Errorf("%s must be at least fetch.backoff_start, %v, got %v", where("fetch.backoff_max"), c.Fetch.BackoffStart, c.Fetch.BackoffMax))
	}
	for key, list := range map[string][]string{"crawl.include": c.Crawl.Include, "crawl.exclude": c.Crawl.Exclude} {
		for _, expr := range list {
			if _, err := regexp.Compile(expr); err != nil {
				checks = append(checks, fmt.Errorf("%s: %w", where(key), err))
			}
		}
	}
	if err := crawler.Schedule(c.Revisit).Validate(); err != nil {
		checks = append(checks, fmt.Errorf("%s: %w", where("revisit"), err))
	}
	if c.Policy.TDM == "ignore" && strings.TrimSpace(c.Policy.TDMReason) == "" {
		checks = append(checks, fmt.Errorf("%s ignore needs policy.tdm_reason: why you may, such as a research exception; it is kept with the crawl", where("policy.tdm")))
	}
	if c.Policy.Persons == "keep" && strings.TrimSpace(c.Policy.PersonsBasis) == "" {
		checks = append(checks, fmt.Errorf("%s keep needs policy.persons_basis: the ground in law on which addresses of private persons may be kept, such as their consent", where("policy.persons")))
	}
	for host, h := range c.Hosts {
		checks = append(checks, h.validate(host))
	}
	return cmp.Or(checks...)
}

// validateStrategy returns an error if a setting is missing without which the
// strategy has nothing to go by.
func (c *Config) validateStrategy() error {
	kind, settings, _ := order.Find(c.Crawl.Strategy, c.Crawl.Settings)
	var missing *order.MissingError
	if errors.As(kind.Check(settings), &missing) {
		return fmt.Errorf("strategy %s needs %s%s", missing.Strategy, c.origin.Where("crawl."+missing.Key), missing.Need)
	}
	return nil
}

// validate says what of a host's own header and password cannot be used.
func (h HostConfig) validate(host string) error {
	secret := h.User != "" || len(h.Headers) > 0
	switch {
	case secret && strings.HasPrefix(host, "*."):
		return fmt.Errorf("hosts.%s: user and headers are for one host; name it without \"*.\"", host)
	case h.User == "" && (h.PasswordEnv != "" || h.PasswordFile != ""):
		return fmt.Errorf("hosts.%s: a password needs a user", host)
	case h.PasswordEnv != "" && h.PasswordFile != "":
		return fmt.Errorf("hosts.%s: the password is in password_env or in password_file, not in both", host)
	}
	for _, p := range h.Paths {
		switch {
		case p.canonical() == "":
			return fmt.Errorf("hosts.%s.paths: prefix %q wants to begin with a slash, such as /forum/", host, p.Prefix)
		case p.MaxPages < 1:
			return fmt.Errorf("hosts.%s.paths: max_pages of %q must be at least 1, got %d; crawl.exclude leaves pages out", host, p.Prefix, p.MaxPages)
		}
	}
	own := fetch.Host{Header: h.header(), Agent: h.UserAgent, User: h.User}
	if err := own.Validate(); err != nil {
		return fmt.Errorf("hosts.%s: %w", host, err)
	}
	return nil
}

// canonical returns the prefix in the spelling that URLs have, or "" where it
// is none.
func (p PathConfig) canonical() string {
	u, err := weburl.Parse("http://host.example" + p.Prefix)
	if err != nil || !strings.HasPrefix(p.Prefix, "/") || u.Query() != "" {
		return ""
	}
	return u.Path()
}

func (h HostConfig) header() http.Header {
	header := http.Header{}
	for name, value := range h.Headers {
		header.Set(name, value)
	}
	return header
}

func newConfigCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:     "config",
		Short:   "Show and check the configuration",
		Example: "  gazehound config check\n  gazehound config show --origin",
		Args:    subCommand,
		RunE:    showHelp,
	}
	var withOrigin bool
	show := &cobra.Command{
		Use:     "show",
		Short:   "Print every value in force",
		Example: "  gazehound config show --origin\n  GAZEHOUND_CRAWL__MAX_PAGES=100 gazehound config show --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			return a.showConfig(c, withOrigin)
		},
	}
	show.Flags().BoolVar(&withOrigin, "origin", false, "say where each value comes from")
	check := &cobra.Command{
		Use:     "check",
		Short:   "Check the configuration files",
		Example: "  gazehound config check\n  gazehound config check --config other.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			set := 0
			for _, from := range c.origin {
				if from != config.Default {
					set++
				}
			}
			if a.json {
				return a.printJSON(map[string]any{"type": "config", "keys_set": set, "unknown": 0})
			}
			fmt.Fprintf(a.stdout, "configuration is valid: %d keys set, 0 unknown\n", set)
			return nil
		},
	}
	group.AddCommand(show, check)
	return group
}

// showConfig prints every value, sorted by key.
func (a *app) showConfig(c *Config, withOrigin bool) error {
	values := schema().Values(c)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		if text, ok := value.(fmt.Stringer); ok {
			value = text.String()
		}
		if a.json {
			if err := a.printJSON(map[string]any{"type": "config", "key": key, "value": value, "origin": c.origin[key]}); err != nil {
				return err
			}
			continue
		}
		line := fmt.Sprintf("%-32s %v", key, value)
		if withOrigin {
			line = fmt.Sprintf("%-72s %s", line, c.origin[key])
		}
		fmt.Fprintln(a.stdout, strings.TrimRight(line, " "))
	}
	return nil
}
