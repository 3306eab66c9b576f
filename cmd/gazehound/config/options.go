package config

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/fetch"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/internal/schedule"
)

// Options are the content of config.yaml; that file documents the keys.
type Options struct {
	Version   int `range:"1..1"`
	Region    Region
	Gazetteer Gazetteer
	Seeds     Seeds
	Crawl     Crawl
	Predictor Predictor
	Fetch     Fetch
	Revisit   crawler.Schedule
	Policy    Policy
	Storage   Storage
	WARC      WARC
	Serve     Serve
	Run       Run
	Admin     Admin
	Cluster   Cluster
	Log       Log
	Hosts     map[string]Host
}

// The sections of config.yaml.
type (
	Region struct {
		Name     string
		Boundary string `flag:"region"`
		Country  string
	}
	Gazetteer struct {
		MinPrecision string `key:"min_precision" oneof:"auto|house|street|postcode"`
	}
	Seeds struct {
		Files    []string `flag:"seeds"`
		Sitemaps bool
	}
	Crawl struct {
		Judge      string `oneof:"addresses|language|topic"`
		Language   string
		LanguageBy string `key:"language_by" oneof:"mixed|meta|script"`
		Topic      string
		TopicShare float64 `key:"topic_share" range:"0.001..1"`
		Topics     string
		Examples   []string
		Strategy   string
		order.Settings
		MaxPages         int64         `key:"max_pages" range:"0.."`
		MaxTime          time.Duration `key:"max_time" range:"0s.."`
		MaxDepth         int           `key:"max_depth" range:"0.."`
		DomainLevels     int           `key:"domain_levels" range:"0..100"`
		MaxPagesPerHost  int64         `key:"max_pages_per_host" range:"0.."`
		MaxPagesPerPath  int64         `key:"max_pages_per_path" range:"0.."`
		Selectivity      float64       `range:"0..0.99"`
		Patience         float64       `flag:"crawl-patience" range:"0..1"`
		MaxFailures      int           `key:"max_failures" range:"0.."`
		Include          []string
		Exclude          []string
		CountryDomains   []string `key:"country_domains"`
		ContentLanguages []string `key:"content_languages"`
		Exhaustive       bool
		Software         string `oneof:"auto|off"`
		Platforms        bool
		RandomSeed       uint64 `key:"random_seed"`
	}
	Predictor struct {
		Depths    int           `range:"1..6"`
		Weight    float64       `range:"0.01..1"`
		Posterior string        `oneof:"tempered|raw"`
		Combine   string        `oneof:"mean|max"`
		Laplace   string        `oneof:"vocabulary|link"`
		Prior     string        `oneof:"smoothed|share"`
		MaxTerms  int           `key:"max_terms" range:"1000..100000000"`
		SaveEvery time.Duration `key:"save_every" range:"1s.."`
	}
	Fetch struct {
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
		CAFile                string        `key:"ca_file"`
		HTTPForBadTLS         bool          `key:"http_for_bad_tls"`
		AllowPrivateAddresses bool          `key:"allow_private_addresses"`
		ShutdownGrace         time.Duration `key:"shutdown_grace" range:"0s..1h"`
		Render                string        `oneof:"off|listed|auto"`
		RenderHosts           []string      `key:"render_hosts"`
		RenderShare           float64       `key:"render_share" range:"0..1"`
		RenderBrowser         string        `key:"render_browser"`
	}
	Policy struct {
		TDM          string `oneof:"respect|ignore"`
		TDMReason    string `key:"tdm_reason"`
		Persons      string `oneof:"drop|keep"`
		PersonsBasis string `key:"persons_basis"`
	}
	Revisit struct {
		First, Min, Max time.Duration
	}
	Storage struct {
		Memory      Size `range:"64MB..1TB"`
		DiskReserve Size `key:"disk_reserve"`
	}
	WARC struct {
		Dir     string `flag:"warc"`
		MaxFile Size   `key:"max_file" range:"1MB..100GB"`
	}
	Serve struct {
		Listen       string
		CORS         []string
		MaxLimit     int           `key:"max_limit" range:"1..500"`
		QueryTimeout time.Duration `key:"query_timeout" range:"10ms..5m"`
		Tiles        string
		TilesCredit  string `key:"tiles_attribution"`
		TimeZone     string `key:"time_zone"`
		Hosts        []string
		Rate         float64 `range:"0..1000000"`
		Bandwidth    Size
		Proxies      []string `key:"trusted_proxies"`
		Questions    string
		RemovalForm  bool `key:"removal_form"`
	}
	Run struct {
		Schedule string
		Round    time.Duration `range:"1s.."`
		Exports  string
		Formats  []string `flag:"export-format"`
	}
	Cluster struct {
		URL             string `flag:"cluster"`
		Crawl           string `flag:"crawl-name"`
		Name            string
		Listen          string
		Peers           string
		Routes          []string
		Partition       string
		Policy          string  `oneof:"A|B"`
		Alpha           float64 `flag:"partition-alpha" range:"0..1"`
		Beta            float64 `flag:"partition-beta" range:"0..1"`
		MostPopulous    bool    `key:"most_populous" flag:"most-populous"`
		CentralityLinks int     `key:"centrality_links" flag:"centrality-links" range:"1..20"`
		CentralityBase  float64 `key:"centrality_base" flag:"centrality-base" range:"0.001..1000000"`
		Nodes           string
		IPFile          string `key:"ip_file"`
		TokenFile       string `key:"token_file"`
		NKeyFile        string `key:"nkey_file"`
		NKeys           []string
		TLSCert         string        `key:"tls_cert"`
		TLSKey          string        `key:"tls_key"`
		TLSCA           string        `key:"tls_ca"`
		Replicas        int           `range:"0..5"`
		Away            time.Duration `range:"10s.."`
		Lease           time.Duration `range:"10s..1h"`
		Linger          time.Duration `range:"0s..10m"`
		MaxBytes        Size          `key:"max_bytes" range:"16MB..1000TB"`
		WaitFor         int           `key:"wait_for" range:"1..10000"`
		Order           string        `oneof:"auto|own|nuggets|turns"`
		OrderURLs       int           `key:"order_urls" range:"1..10000"`
		OrderParts      int           `key:"order_parts" range:"1..1024"`
		OrderLambda     int           `key:"order_lambda" range:"1..40"`
		OrderEvery      time.Duration `key:"order_every" range:"0s..1h"`
		Patience        time.Duration `range:"100ms..1h"`
	}
	Admin struct {
		Listen    string `flag:"admin"`
		TokenFile string `key:"token_file"`
	}
	Log struct {
		Level  string `oneof:"warn|info|debug"`
		Format string `oneof:"text|json"`
	}
	Host struct {
		Delay        time.Duration `range:"0s..24h"`
		Skip         bool
		MaxPages     int64             `key:"max_pages" range:"0.."`
		Paths        []Path            // a list, because keys lose their case
		UserAgent    string            `key:"user_agent"`
		Headers      map[string]string // in lower case
		User         string
		PasswordEnv  string `key:"password_env"`
		PasswordFile string `key:"password_file"`
		PlainHTTP    bool   `key:"plain_http"`
	}
	Path struct {
		Prefix   string
		MaxPages int64 `key:"max_pages"`
	}
)

// shipped is the config.yaml at the top of the repository, which cannot be embedded from here: every
// option with its default and what it means.
//
//go:embed defaults.yaml
var shipped []byte

// All returns the schema of config.yaml and Options.
var All = sync.OnceValue(func() *Schema[Options] {
	s, err := New[Options](shipped)
	if err != nil {
		panic(err)
	}
	return s
})

// Validate returns an error for the first invalid value, with its key, beyond what the tags of
// Options check.
func (c *Options) Validate(from Origin) error {
	where := from.Where
	checks := []error{
		OneOf(where("crawl.strategy"), c.Crawl.Strategy, order.Names()...),
		OneOf(where("cluster.partition"), c.Cluster.Partition, partitionNames()...),
		c.validateStrategy(from),
	}
	if c.Fetch.BackoffMax < c.Fetch.BackoffStart {
		checks = append(checks, fmt.Errorf("%s must be at least fetch.backoff_start, %v, got %v",
			where("fetch.backoff_max"), c.Fetch.BackoffStart, c.Fetch.BackoffMax))
	}
	if c.Fetch.Render == "listed" && len(c.Fetch.RenderHosts) == 0 {
		checks = append(checks, fmt.Errorf("%s listed needs fetch.render_hosts, such as app.example", where("fetch.render")))
	}
	checks = append(checks, c.validateFilters(where))
	for key, list := range map[string][]string{"crawl.include": c.Crawl.Include, "crawl.exclude": c.Crawl.Exclude} {
		for _, expr := range list {
			e, err := regexp.Compile(expr)
			switch {
			case err != nil:
				checks = append(checks, fmt.Errorf("%s: %w", where(key), err))
			case key == "crawl.exclude" && crawler.MatchesAll(e):
				checks = append(checks, fmt.Errorf("%s has %q, which matches every URL, so that no link would be "+
					"followed; exclude a part of it such as /calendar/", where(key), expr))
			}
		}
	}
	if err := CheckContact(c.Fetch.Contact); err != nil {
		checks = append(checks, fmt.Errorf("%s %w, got %q", where("fetch.contact"), err, c.Fetch.Contact))
	}
	if err := c.Revisit.Validate(); err != nil {
		checks = append(checks, fmt.Errorf("%s: %w", where("revisit"), err))
	}
	if c.Policy.TDM == "ignore" && strings.TrimSpace(c.Policy.TDMReason) == "" {
		checks = append(checks, fmt.Errorf("%s ignore needs policy.tdm_reason: why you may, such as a research "+
			"exception; it is kept with the crawl", where("policy.tdm")))
	}
	if c.Policy.Persons == "keep" && strings.TrimSpace(c.Policy.PersonsBasis) == "" {
		checks = append(checks, fmt.Errorf("%s keep needs policy.persons_basis: the ground in law on which addresses "+
			"of private persons may be kept, such as their consent", where("policy.persons")))
	}
	if _, err := time.LoadLocation(c.Serve.TimeZone); err != nil {
		checks = append(checks, fmt.Errorf("%s must be a zone such as Europe/Berlin, got %.60q",
			where("serve.time_zone"), c.Serve.TimeZone))
	}
	if _, err := schedule.Parse(c.Run.Schedule); err != nil {
		checks = append(checks, fmt.Errorf("%s %w", where("run.schedule"), err))
	}
	for host, h := range c.Hosts {
		checks = append(checks, h.validate(host))
	}
	return cmp.Or(checks...)
}

var (
	countryDomain = regexp.MustCompile(`^([a-z]{2}|xn--[a-z0-9-]+)$`)
	languageCode  = regexp.MustCompile(`^[a-z]{2}$`)
)

// validateFilters returns an error for a country domain or language that is none.
func (c *Options) validateFilters(where func(string) string) error {
	for _, domain := range c.Crawl.CountryDomains {
		if !countryDomain.MatchString(domain) {
			return fmt.Errorf("%s must be country domains such as de, without a dot, got %q",
				where("crawl.country_domains"), domain)
		}
	}
	for _, code := range c.Crawl.ContentLanguages {
		if !languageCode.MatchString(code) {
			return fmt.Errorf("%s must be ISO 639-1 codes such as de, got %q", where("crawl.content_languages"), code)
		}
	}
	return nil
}

// validateStrategy returns an error if a setting that the strategy requires is missing.
func (c *Options) validateStrategy(from Origin) error {
	kind, settings, _ := order.Find(c.Crawl.Strategy, c.Crawl.Settings)
	var missing *order.MissingError
	if errors.As(kind.Check(settings), &missing) {
		return fmt.Errorf("strategy %s needs %s%s", missing.Strategy, from.Where("crawl."+missing.Key), missing.Need)
	}
	return nil
}

// validate returns an error for an invalid header or password of a host.
func (h Host) validate(host string) error {
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
		case p.Canonical() == "":
			return fmt.Errorf("hosts.%s.paths: prefix %q must begin with a slash, such as /forum/", host, p.Prefix)
		case p.MaxPages < 1:
			return fmt.Errorf("hosts.%s.paths: max_pages of %q must be at least 1, got %d; crawl.exclude leaves "+
				"pages out", host, p.Prefix, p.MaxPages)
		}
	}
	own := fetch.Host{Header: h.Header(), Agent: h.UserAgent, User: h.User}
	if err := own.Validate(); err != nil {
		return fmt.Errorf("hosts.%s: %w", host, err)
	}
	return nil
}

// Canonical returns the canonical spelling of the prefix, or "" if it is invalid.
func (p Path) Canonical() string {
	u, err := weburl.Parse("http://host.example" + p.Prefix)
	if err != nil || !strings.HasPrefix(p.Prefix, "/") || u.Query() != "" {
		return ""
	}
	return u.Path()
}

// Header returns the additional header fields of requests to the host.
func (h Host) Header() http.Header {
	header := http.Header{}
	for name, value := range h.Headers {
		header.Set(name, value)
	}
	return header
}

func partitionNames() []string {
	var names []string
	for _, m := range partition.Methods() {
		names = append(names, string(m))
	}
	return names
}

// ReadPassword reads the password of a host from the configured file or variable.
func (h Host) ReadPassword(host string) (string, error) {
	switch {
	case h.PasswordEnv != "":
		p, ok := os.LookupEnv(h.PasswordEnv)
		if !ok {
			return "", fmt.Errorf("hosts.%s.password_env: %s is not set in the environment", host, h.PasswordEnv)
		}
		return p, nil
	case h.PasswordFile != "":
		text, err := os.ReadFile(h.PasswordFile)
		if err != nil {
			return "", fmt.Errorf("hosts.%s.password_file: %w", host, err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	}
	return "", nil
}
