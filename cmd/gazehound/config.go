package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/internal/forget"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/viper"
	"gopkg.in/yaml.v3"
)

// A Config is the content of config.yaml; that file documents the keys.
type Config struct {
	Version   int
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

	origin  map[string]string // key → where its value comes from
	blocked forget.Blocklist  // of the data directory
}

// The sections of config.yaml.
type (
	RegionConfig struct {
		Name, Boundary, Country string
	}
	GazetteerConfig struct {
		MinPrecision string `mapstructure:"min_precision"`
	}
	SeedsConfig struct {
		Files    []string
		Sitemaps bool
	}
	CrawlConfig struct {
		Judge           string
		Language        string
		Topic           string
		TopicShare      float64 `mapstructure:"topic_share"`
		Topics          string
		Examples        []string
		Strategy        string
		order.Settings  `mapstructure:",squash"`
		MaxPages        int64         `mapstructure:"max_pages"`
		MaxTime         time.Duration `mapstructure:"max_time"`
		MaxDepth        int           `mapstructure:"max_depth"`
		MaxPagesPerHost int64         `mapstructure:"max_pages_per_host"`
		MaxPagesPerPath int64         `mapstructure:"max_pages_per_path"`
		MaxFailures     int           `mapstructure:"max_failures"`
		Selectivity     float64
		Include         []string
		Exclude         []string
		RandomSeed      uint64 `mapstructure:"random_seed"`
	}
	PredictorConfig struct {
		Weight    float64
		Posterior string
		Combine   string
		MaxTerms  int           `mapstructure:"max_terms"`
		SaveEvery time.Duration `mapstructure:"save_every"`
	}
	FetchConfig struct {
		Contact               string
		UserAgentName         string `mapstructure:"user_agent_name"`
		Workers               int
		Delay                 time.Duration
		AdaptiveDelay         bool          `mapstructure:"adaptive_delay"`
		MaxCrawlDelay         time.Duration `mapstructure:"max_crawl_delay"`
		Timeout               time.Duration
		Retries               int
		BackoffStart          time.Duration `mapstructure:"backoff_start"`
		BackoffMax            time.Duration `mapstructure:"backoff_max"`
		MaxBody               Size          `mapstructure:"max_body"`
		MaxHeader             Size          `mapstructure:"max_header"`
		ContentTypes          []string      `mapstructure:"content_types"`
		Cookies               string
		Proxy                 string
		AllowPrivateAddresses bool          `mapstructure:"allow_private_addresses"`
		ShutdownGrace         time.Duration `mapstructure:"shutdown_grace"`
	}
	PolicyConfig struct {
		TDM       string
		TDMReason string `mapstructure:"tdm_reason"`

		Persons      string
		PersonsBasis string `mapstructure:"persons_basis"`
	}
	RevisitConfig struct {
		First, Min, Max time.Duration
	}
	StorageConfig struct {
		Memory      Size
		DiskReserve Size `mapstructure:"disk_reserve"`
	}
	WARCConfig struct {
		Dir     string
		MaxFile Size `mapstructure:"max_file"`
	}
	ServeConfig struct {
		Listen       string
		CORS         []string      `mapstructure:"cors"`
		MaxLimit     int           `mapstructure:"max_limit"`
		QueryTimeout time.Duration `mapstructure:"query_timeout"`
		Tiles        string
		TilesCredit  string `mapstructure:"tiles_attribution"`
		Hosts        []string
		Rate         float64
		RemovalForm  bool `mapstructure:"removal_form"`
	}
	ClusterConfig struct {
		URL       string
		Crawl     string
		Name      string
		Listen    string
		Peers     string
		Routes    []string
		Partition string
		Policy    string
		Nodes     string
		IPFile    string   `mapstructure:"ip_file"`
		TokenFile string   `mapstructure:"token_file"`
		NKeyFile  string   `mapstructure:"nkey_file"`
		NKeys     []string `mapstructure:"nkeys"`
		TLSCert   string   `mapstructure:"tls_cert"`
		TLSKey    string   `mapstructure:"tls_key"`
		TLSCA     string   `mapstructure:"tls_ca"`
		Replicas  int
		Away      time.Duration
		Lease     time.Duration
		Linger    time.Duration
		MaxBytes  Size `mapstructure:"max_bytes"`
		WaitFor   int  `mapstructure:"wait_for"`
		Order     string
		Patience  time.Duration
	}
	AdminConfig struct {
		Listen    string
		TokenFile string `mapstructure:"token_file"`
	}
	PathConfig struct {
		Prefix   string
		MaxPages int64 `mapstructure:"max_pages"`
	}
	LogConfig struct {
		Level, Format string
	}
	HostConfig struct {
		Delay        time.Duration
		Skip         bool
		MaxPages     int64             `mapstructure:"max_pages"`
		Paths        []PathConfig      // a list, because keys lose their case
		UserAgent    string            `mapstructure:"user_agent"`
		Headers      map[string]string // in lower case
		User         string
		PasswordEnv  string `mapstructure:"password_env"`
		PasswordFile string `mapstructure:"password_file"`
		PlainHTTP    bool   `mapstructure:"plain_http"`
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

// DefaultConfig returns the configuration that config.yaml shows.
func DefaultConfig() Config {
	return Config{
		Version:   1,
		Gazetteer: GazetteerConfig{MinPrecision: "auto"},
		Seeds:     SeedsConfig{Files: []string{}, Sitemaps: true},
		Crawl: CrawlConfig{Judge: "addresses", TopicShare: 0.3, Examples: []string{}, Strategy: "lookahead", Selectivity: 0.4, MaxPagesPerHost: 20000, Include: []string{},
			Settings: order.Settings{Decay: 0.5, LookaheadSettings: order.LookaheadSettings{News: true}, BestFirstSettings: order.BestFirstSettings{Places: []string{}},
				TrendSettings: order.TrendSettings{Alpha: 0.5, Beta: 0.5, Emphasis: 3}},
			Exclude: []string{`\.(jpe?g|png|gif|webp|svg|ico|css|js|mjs|zip|gz|tgz|bz2|xz|7z|rar|jar|exe|dmg|iso|mp[34]|m4[av]|ogg|wav|avi|mov|mkv|webm|pdf|docx?|xlsx?|pptx?|od[tsp]|ps|eps|tiff?|bmp|woff2?|ttf|eot|apk|deb|rpm|bin)(\?|$)`}},
		Predictor: PredictorConfig{Weight: 1, Posterior: "raw", Combine: "mean", MaxTerms: 1_000_000, SaveEvery: time.Minute},
		Fetch: FetchConfig{UserAgentName: "gazehound", Workers: 16, Delay: 2 * time.Second, AdaptiveDelay: true,
			MaxCrawlDelay: time.Minute, Timeout: 20 * time.Second, Retries: 2, BackoffStart: 5 * time.Minute, BackoffMax: 24 * time.Hour,
			MaxBody: 2e6, MaxHeader: 256e3, ContentTypes: []string{"text/html", "application/xhtml+xml"}, Cookies: "none", ShutdownGrace: 20 * time.Second},
		Revisit: RevisitConfig(crawler.DefaultSchedule()),
		Policy:  PolicyConfig{TDM: "respect", Persons: "drop"},
		Storage: StorageConfig{Memory: 500e6, DiskReserve: 200e6},
		WARC:    WARCConfig{MaxFile: 1e9},
		Serve:   ServeConfig{Listen: "127.0.0.1:8090", CORS: []string{}, MaxLimit: 500, QueryTimeout: 5 * time.Second, Hosts: []string{}, Rate: 20, RemovalForm: true},
		Cluster: ClusterConfig{Crawl: "gazehound", Routes: []string{}, Partition: "site-hash", Policy: "A", NKeys: []string{}, Away: 5 * time.Minute, Lease: time.Minute, Linger: 15 * time.Second, MaxBytes: 1e9, WaitFor: 1, Order: "auto", Patience: 5 * time.Second},
		Admin:   AdminConfig{Listen: "127.0.0.1:8091"},
		Log:     LogConfig{Level: "info", Format: "text"},
		Hosts:   map[string]HostConfig{},
	}
}

// keySeparator stands between the levels of a viper key. It is neither a dot
// nor a colon, because the keys below hosts have these themselves:
// www.a.example, [2001:db8::1]:8080.
const keySeparator = "\x1f"

// keys flattens c into crawl, max_pages → default value, the two joined by
// keySeparator.
func (c Config) keys() map[string]any {
	flat := map[string]any{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			name := f.Tag.Get("mapstructure")
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			if f.Anonymous {
				walk(prefix, v.Field(i))
			} else if f.Type.Kind() == reflect.Struct {
				walk(prefix+name+keySeparator, v.Field(i))
			} else {
				flat[prefix+name] = v.Field(i).Interface()
			}
		}
	}
	walk("", reflect.ValueOf(c))
	return flat
}

// config reads the configuration: defaults, files, environment, then flags
// that were given (flag name → key). Every error ends with exit code 4.
func (a *app) config(flagKeys map[string]string) (*Config, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(keySeparator))
	origin := map[string]string{}
	defaults := DefaultConfig().keys()
	for key, value := range defaults {
		v.SetDefault(key, value)
		origin[key] = "default"
	}
	files, err := a.configFiles()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := mergeFile(v, file, a.stdin, defaults, origin); err != nil {
			return nil, err
		}
	}
	for key := range defaults {
		name := "GAZEHOUND_" + strings.ToUpper(strings.ReplaceAll(key, keySeparator, "__"))
		if value, ok := os.LookupEnv(name); ok {
			v.Set(key, value)
			origin[key] = name
		}
	}
	if a.flags != nil {
		for flag, key := range flagKeys {
			if f := a.flags.Lookup(flag); f != nil && f.Changed {
				key = strings.ReplaceAll(key, ".", keySeparator)
				v.Set(key, flagValue(f.Value))
				origin[key] = "--" + flag
			}
		}
	}
	var c Config
	hooks := viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(
		durationHook, mapstructure.TextUnmarshallerHookFunc(), mapstructure.StringToSliceHookFunc(",")))
	if err := v.UnmarshalExact(&c, hooks); err != nil {
		return nil, fail(exitInvalidInput, "configuration: %s", decodeProblem(err, origin))
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
	return &c, nil
}

// flagValue returns a flag's value: list flags as a list, others as text.
func flagValue(v interface{ String() string }) any {
	if list, ok := v.(interface{ GetSlice() []string }); ok {
		return list.GetSlice()
	}
	return v.String()
}

// configFiles returns the files to read, the weakest first.
func (a *app) configFiles() ([]string, error) {
	if a.configFile != "" {
		if a.configFile != "-" {
			if _, err := os.Stat(a.configFile); err != nil {
				return nil, fail(exitInvalidInput, "config: %w", err)
			}
		}
	}
	var candidates []string
	if dir, err := os.UserConfigDir(); err == nil {
		candidates = append(candidates, filepath.Join(dir, "gazehound", "config.yaml"))
	}
	if a.configFile == "" {
		candidates = append(candidates, "config.yaml")
	}
	candidates = append(candidates, filepath.Join(a.data, "config.yaml"))
	var files []string
	for _, name := range candidates {
		if _, err := os.Stat(name); err == nil {
			files = append(files, name)
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, fail(exitInvalidInput, "config: %w", err)
		}
	}
	if a.configFile != "" {
		files = append(files, a.configFile)
	}
	return files, nil
}

// maxConfigFile bounds a configuration file, in bytes.
const maxConfigFile = 1 << 20

// mergeFile reads one YAML file into v. Unknown keys and bad YAML are errors
// with file and line.
func mergeFile(v *viper.Viper, name string, stdin io.Reader, known map[string]any, origin map[string]string) error {
	var text []byte
	var err error
	if name == "-" {
		text, err = io.ReadAll(io.LimitReader(stdin, maxConfigFile))
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return fail(exitInvalidInput, "config: %w", err)
	}
	if len(text) > maxConfigFile {
		return fail(exitInvalidInput, "%s: larger than %d bytes, which is no configuration", name, maxConfigFile)
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if trimmed := bytes.TrimLeft(line, " "); len(trimmed) > 0 && trimmed[0] == '\t' {
			return fail(exitInvalidInput, "%s:%d: a tab cannot indent YAML; use spaces", name, i+1)
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return fail(exitInvalidInput, "%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return fail(exitInvalidInput, "%s:%d: wants sections such as \"crawl:\"", name, doc.Content[0].Line)
	}
	if err := checkKeys(doc.Content[0], name, "", known, origin); err != nil {
		return err
	}
	v.SetConfigType("yaml")
	if err := v.MergeConfig(bytes.NewReader(text)); err != nil {
		return fail(exitInvalidInput, "%s: %w", name, err)
	}
	return nil
}

// checkKeys compares the keys of a YAML mapping with the known ones and notes
// where each value stands.
func checkKeys(m *yaml.Node, file, prefix string, known map[string]any, origin map[string]string) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, value := m.Content[i], m.Content[i+1]
		key := prefix + strings.ToLower(k.Value)
		if seen[key] {
			return fail(exitInvalidInput, "%s:%d: key %s stands there twice", file, k.Line, dotted(key))
		}
		seen[key] = true
		if _, ok := known[key]; ok {
			origin[key] = fmt.Sprintf("%s:%d", file, k.Line)
			if key == "hosts" {
				if err := checkHosts(value, file); err != nil {
					return err
				}
			}
			continue
		}
		section := key + keySeparator
		isSection := false
		var names []string
		for name := range known {
			isSection = isSection || strings.HasPrefix(name, section)
			names = append(names, dotted(name))
		}
		switch {
		case !isSection:
			sort.Strings(names)
			return fail(exitInvalidInput, "%s:%d: unknown key %s.%s", file, k.Line, oneLine(dotted(key)), didYouMean(dotted(key), names))
		case value.Kind == yaml.MappingNode:
			if err := checkKeys(value, file, section, known, origin); err != nil {
				return err
			}
		case value.Tag != "!!null":
			return fail(exitInvalidInput, "%s:%d: %s is a section; its keys go below it, indented", file, k.Line, dotted(key))
		}
	}
	return nil
}

// hostKeys are the keys of one host below hosts.
var hostKeys = []string{"delay", "skip", "max_pages", "paths", "user_agent", "headers", "user", "password_env", "password_file", "plain_http"}

// checkHosts does what checkKeys does for the free keys below hosts.
func checkHosts(m *yaml.Node, file string) error {
	for i := 0; i+1 < len(m.Content); i += 2 {
		host := m.Content[i+1]
		for j := 0; j+1 < len(host.Content); j += 2 {
			k := host.Content[j]
			if !slices.Contains(hostKeys, k.Value) {
				return fail(exitInvalidInput, "%s:%d: unknown key %q of host %q.%s", file, k.Line, k.Value, m.Content[i].Value, didYouMean(k.Value, hostKeys))
			}
		}
	}
	return nil
}

func dotted(key string) string { return strings.ReplaceAll(key, keySeparator, ".") }

// durationHook parses durations and says what it wants where it fails.
func durationHook(from, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() || from == to {
		return value, nil
	}
	text, ok := value.(string)
	if !ok {
		text = fmt.Sprint(value)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		if text == "0" {
			return time.Duration(0), nil
		}
		return nil, fmt.Errorf("wants a duration with a unit, such as 2s or 500ms, got %q", text)
	}
	return d, nil
}

var decodedField = regexp.MustCompile(`'([\w.\[\]]+)'`)

var badNumber = regexp.MustCompile(`cannot parse value as '(\w+)': strconv.*$`)

// decodeProblem names the file and key of a value that did not fit.
func decodeProblem(err error, origin map[string]string) string {
	text := oneLine(err.Error())
	for key, from := range origin {
		for _, m := range decodedField.FindAllStringSubmatch(text, -1) {
			if strings.EqualFold(strings.ReplaceAll(m[1], "_", ""), strings.ReplaceAll(dotted(key), "_", "")) {
				text = strings.Replace(text, "'"+m[1]+"'", fmt.Sprintf("%s (%s)", dotted(key), from), 1)
			}
		}
	}
	text = badNumber.ReplaceAllString(text, "wants a value of type $1")
	text = strings.TrimPrefix(text, "decoding failed due to the following error(s): ")
	return strings.Join(strings.Fields(text), " ")
}

// originOf tells where the value of a key such as crawl.max_pages comes from.
func (c *Config) originOf(key string) string {
	return c.origin[strings.ReplaceAll(key, ".", keySeparator)]
}

// Validate returns the first value that makes no sense, with its key.
func (c *Config) Validate() error {
	where := func(key string) string {
		from := c.originOf(key)
		if from == "" || from == "default" {
			return key
		}
		return key + " (" + from + ")"
	}
	oneOf := func(key, got string, allowed ...string) error {
		for _, s := range allowed {
			if got == s {
				return nil
			}
		}
		return fmt.Errorf("%s: %q is not one of %s.%s", where(key), got, strings.Join(allowed, ", "), didYouMean(got, allowed))
	}
	between := func(key string, got, low, high float64) error {
		if !(got >= low && got <= high) {
			return fmt.Errorf("%s must be between %v and %v, got %v", where(key), low, high, got)
		}
		return nil
	}
	const forever = float64(1 << 62)
	checks := []error{
		oneOf("gazetteer.min_precision", c.Gazetteer.MinPrecision, "auto", "house", "street", "postcode"),
		oneOf("log.level", c.Log.Level, logLevels...),
		oneOf("log.format", c.Log.Format, logFormats...),
		oneOf("crawl.judge", c.Crawl.Judge, judgeNames...),
		between("crawl.topic_share", c.Crawl.TopicShare, 0.001, 1),
		between("crawl.alpha", c.Crawl.Alpha, 0, 1000),
		between("crawl.beta", c.Crawl.Beta, 0, 1000),
		between("crawl.emphasis", c.Crawl.Emphasis, 0, 1000),
		oneOf("crawl.strategy", c.Crawl.Strategy, order.Names()...),
		oneOf("cluster.partition", c.Cluster.Partition, partitionNames()...),
		oneOf("cluster.policy", c.Cluster.Policy, "A", "B"),
		oneOf("cluster.order", c.Cluster.Order, "auto", "own", "nuggets"),
		between("cluster.patience", c.Cluster.Patience.Seconds(), 0.1, 3600),
		between("cluster.wait_for", float64(c.Cluster.WaitFor), 1, 10000),
		between("cluster.replicas", float64(c.Cluster.Replicas), 0, 5),
		between("cluster.away", c.Cluster.Away.Seconds(), 10, forever),
		between("cluster.lease", c.Cluster.Lease.Seconds(), 10, 3600),
		between("cluster.linger", c.Cluster.Linger.Seconds(), 0, 600),
		between("cluster.max_bytes", float64(c.Cluster.MaxBytes), 16e6, 1e15),
		oneOf("policy.tdm", c.Policy.TDM, "respect", "ignore"),
		oneOf("policy.persons", c.Policy.Persons, "drop", "keep"),
		oneOf("fetch.cookies", c.Fetch.Cookies, "none", "site"),
		oneOf("predictor.posterior", c.Predictor.Posterior, "tempered", "raw"),
		oneOf("predictor.combine", c.Predictor.Combine, "mean", "max"),
		between("version", float64(c.Version), 1, 1),
		between("crawl.decay", c.Crawl.Decay, 0.01, 1),
		between("crawl.limit_distance", float64(c.Crawl.LimitDistance), 0, 1000),
		between("crawl.max_pages", float64(c.Crawl.MaxPages), 0, forever),
		between("crawl.max_time", c.Crawl.MaxTime.Seconds(), 0, forever),
		between("crawl.max_depth", float64(c.Crawl.MaxDepth), 0, forever),
		between("crawl.max_pages_per_host", float64(c.Crawl.MaxPagesPerHost), 0, forever),
		between("crawl.max_pages_per_path", float64(c.Crawl.MaxPagesPerPath), 0, forever),
		between("crawl.max_failures", float64(c.Crawl.MaxFailures), 0, forever),
		between("crawl.selectivity", c.Crawl.Selectivity, 0, 0.99),
		between("predictor.weight", c.Predictor.Weight, 0.01, 1),
		between("predictor.max_terms", float64(c.Predictor.MaxTerms), 1000, 100e6),
		between("predictor.save_every", c.Predictor.SaveEvery.Seconds(), 1, forever),
		between("fetch.workers", float64(c.Fetch.Workers), 1, 1024),
		between("fetch.delay", c.Fetch.Delay.Seconds(), 0, 86400),
		between("fetch.max_crawl_delay", c.Fetch.MaxCrawlDelay.Seconds(), 0, 86400),
		between("fetch.timeout", c.Fetch.Timeout.Seconds(), 0.01, 3600),
		between("fetch.retries", float64(c.Fetch.Retries), 0, 20),
		between("fetch.backoff_start", c.Fetch.BackoffStart.Seconds(), 0, 86400),
		between("fetch.backoff_max", c.Fetch.BackoffMax.Seconds(), c.Fetch.BackoffStart.Seconds(), 30*86400),
		between("fetch.max_body", float64(c.Fetch.MaxBody), 1e3, 1e9),
		between("fetch.max_header", float64(c.Fetch.MaxHeader), 1e3, 10e6),
		between("fetch.shutdown_grace", c.Fetch.ShutdownGrace.Seconds(), 0, 3600),
		between("storage.memory", float64(c.Storage.Memory), 64e6, 1e12),
		between("warc.max_file", float64(c.WARC.MaxFile), 1e6, 100e9),
		between("serve.max_limit", float64(c.Serve.MaxLimit), 1, 500),
		between("serve.rate", c.Serve.Rate, 0, 1e6),
		between("serve.query_timeout", c.Serve.QueryTimeout.Seconds(), 0.01, 300),
	}
	for key, list := range map[string][]string{"crawl.include": c.Crawl.Include, "crawl.exclude": c.Crawl.Exclude} {
		for _, expr := range list {
			if _, err := regexp.Compile(expr); err != nil {
				checks = append(checks, fmt.Errorf("%s: %w", where(key), err))
			}
		}
	}
	if c.Crawl.Alpha*c.Crawl.Emphasis+c.Crawl.Beta == 0 {
		checks = append(checks, fmt.Errorf("%s × crawl.emphasis and crawl.beta are both 0: nothing would be important", where("crawl.alpha")))
	}
	if kind, _, ok := order.Find(c.Crawl.Strategy, c.Crawl.Settings); ok {
		var missing *order.MissingError
		if errors.As(kind.Check(c.Crawl.Settings), &missing) {
			checks = append(checks, fmt.Errorf("strategy %s needs %s%s", missing.Strategy, where("crawl."+missing.Key), missing.Need))
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
		checks = append(checks, between("hosts."+host+".delay", h.Delay.Seconds(), 0, 86400),
			between("hosts."+host+".max_pages", float64(h.MaxPages), 0, forever), h.validate(host))
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
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
			c, err := a.config(nil)
			if err != nil {
				return err
			}
			values := c.keys()
			names := make([]string, 0, len(values))
			for k := range values {
				names = append(names, k)
			}
			sort.Strings(names)
			for _, k := range names {
				value := values[k]
				switch v := value.(type) {
				case time.Duration:
					value = v.String()
				case Size:
					value = v.String()
				}
				if a.json {
					if err := a.printJSON(map[string]any{"type": "config", "key": dotted(k), "value": value, "origin": c.origin[k]}); err != nil {
						return err
					}
					continue
				}
				line := fmt.Sprintf("%-32s %v", dotted(k), value)
				if withOrigin {
					line = fmt.Sprintf("%-72s %s", line, c.origin[k])
				}
				fmt.Fprintln(a.stdout, strings.TrimRight(line, " "))
			}
			return nil
		},
	}
	show.Flags().BoolVar(&withOrigin, "origin", false, "say where each value comes from")
	check := &cobra.Command{
		Use:     "check",
		Short:   "Check the configuration files",
		Example: "  gazehound config check\n  gazehound config check --config other.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.config(nil)
			if err != nil {
				return err
			}
			set := 0
			for _, from := range c.origin {
				if from != "default" {
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
