package software

import (
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/weburl"
)

// marked are marks as the software writes them.
var marked = map[string][]string{
	"listing": {"title: Index of /archiv/2026"}, "mediawiki": {"generator: MediaWiki 1.39.17"},
	"wordpress": {"generator: WordPress 6.8.1", "rel: https://api.w.org/",
		`link: <http://a.example/wp-json/>; rel="https://api.w.org/"`, "x-pingback: http://a.example/xmlrpc.php"},
	"dokuwiki": {"generator: DokuWiki"}, "phpbb": {"body: phpbb"}, "discourse": {"generator: Discourse 3.3.0 - https://github.com/discourse"},
	"cgit": {"generator: cgit v1.2.3"}, "gitweb": {"generator: gitweb/2.39.5 git/2.39.5"}, "nextcloud": {"body: body-login"},
	"hypermail": {"generator: hypermail 2.3.0, see http://www.hypermail-project.org/"}, "woocommerce": {"generator: WooCommerce 9.1.2"},
	"prestashop": {"generator: PrestaShop"}, "shopify": {"x-shopid: 1234", "x-shopify-stage: set", "powered-by: Shopify"},
	"magento": {"x-magento-cache-debug: set"}, "drupal": {"generator: Drupal 10 (https://www.drupal.org)", "x-generator: Drupal 7"},
	"joomla": {"generator: Joomla! - Open Source Content Management"}, "typo3": {"generator: TYPO3 CMS"},
	"blogger": {"generator: blogger"}, "ghost": {"generator: Ghost 5.80"},
}

// linked are links of each rule, and after "" links of the same software that no rule is about.
var linked = map[string][]string{
	"any replies":           {"/2026/post/?replytocom=12", "", "/hilfe?reply=12"},
	"any wordpress-machine": {"/wp-json/wp/v2/posts", "/wp-login.php", "/blog/xmlrpc.php", "", "/wp-content/plan.html", "/login.php"},
	"any roundcube":         {"/mail/?_task=login", "", "/?task=login", "/?_task=vereine"},
	"any phpmyadmin":        {"/phpmyadmin/", "/pma/index.php?route=/", "", "/kurse/phpmyadmin/anmeldung.html"},
	"listing sorting":       {"/archiv/?C=N;O=D", "/?C=M&O=A", "", "/?C=Nord;O=Ost", "/archiv/laden.html"},
	"mediawiki actions": {"/index.php?title=Rathaus&action=edit&section=1", "/w/index.php?title=Rathaus&oldid=77", "/index.php?title=Neu&redlink=1",
		"", "/index.php/Rathaus", "/wiki/Aktion:Edit", "/index.php?title=Rathaus", "/index.php?title=Rathaus&action=view"},
	"mediawiki machine":    {"/api.php?action=rsd", "/rest.php/v1/search", "", "/wiki/Api.php-Kurs"},
	"mediawiki page-lists": {"/wiki/Spezial:Alle_Seiten", "/index.php?title=Special:AllPages&from=M"},
	"mediawiki special":    {"/wiki/Spezial:Letzte_%C3%84nderungen", "/index.php?title=Sp%C3%A9cial:Connexion", "/wiki/Speciaal:Zoeken", "", "/wiki/Spezialitäten", "/wiki/Especial_dia"},
	"wordpress feeds":      {"/feed/", "/2026/03/fest/feed/", "/?feed=rss2", "", "/feedback/", "/tierfeed"},
	"wordpress machine":    {"/?rest_route=/", "/fest/embed/", "", "/embedded/"},
	"wordpress share":      {"/fest/?share=facebook", "", "/fest/?shared=1"},
	"wordpress events":     {"/event/fest/?ical=1", "/termine/?eventDisplay=past", "", "/event/fest/"},
	"wordpress archives": {"/2026/", "/2026/03/", "/2026/03/14/page/2/", "/author/anna/", "/tag/markt/page/3/", "/?author=2",
		"", "/2026/03/fest/", "/category/orte/", "/page/2/", "/author-lesung/"},
	"wordpress calendar":  {"/events/2026-03/", "/veranstaltungen/monat/", "", "/event/fest-2026/"},
	"dokuwiki page-index": {"/doku.php?id=start&do=index", "/doku.php?idx=orte"},
	"dokuwiki actions":    {"/doku.php?id=ort1&do=edit&rev=0", "/doku.php?id=ort1&rev=1700000000", "", "/doku.php?id=ort1", "/doku.php?id=do:edit"},
	"dokuwiki machine":    {"/lib/exe/detail.php?id=a&media=b.png", "/feed.php", "/_export/raw/ort1", "", "/lib/ort.html"},
	"phpbb actions":       {"/ucp.php?mode=login", "/viewtopic.php?f=2&t=7&view=print", "/search.php?search_id=newposts", "", "/viewtopic.php?f=2&t=7", "/viewforum.php?f=2&start=25"},
	"phpbb posts":         {"/viewtopic.php?p=12#p12"},
	"discourse users":     {"/u/anna", "/login", "", "/t/unser-laden/12", "/c/orte/4"},
	"discourse sorting":   {"/latest?order=views", "/t/laden/12.rss", "", "/latest?page=2"},
	"discourse posts":     {"/t/unser-laden/12/5"},
	"cgit history":        {"/stadt.git/commit/?id=1", "/stadt.git/log/", "", "/stadt.git/about/", "/stadt.git/tree/README"},
	"gitweb history":      {"/?p=stadt.git;a=commitdiff;h=1", "/?p=stadt.git&a=shortlog", "", "/?p=stadt.git;a=summary", "/?p=stadt.git;a=tree"},
	"nextcloud login":     {"/index.php/login", "/lostpassword", "", "/s/AbC123"},
	"hypermail sorting":   {"/2026/date.html", "/author.html", "", "/2026/0012.html", "/update.html"},
	"woocommerce facets":  {"/laden/?orderby=price", "/?add-to-cart=12", "/laden/?filter_farbe=rot", "", "/laden/page/2/", "/produkt/brot/"},
	"woocommerce basket":  {"/warenkorb/", "/my-account/", "", "/warenkunde/"},
	"prestashop facets":   {"/3-brot?order=product.price.asc", "/3-brot?q=Farbe-Rot", "", "/3-brot?page=2"},
	"shopify facets":      {"/collections/brot?sort_by=price", "/cart", "/products/a?variant=12", "", "/pages/kontakt", "/collections/brot?page=2"},
	"magento facets":      {"/brot.html?product_list_order=price", "/catalog/product_compare/add", "/wishlist/", "", "/kontakt", "/brot.html?p=2"},
	"drupal users":        {"/user/login?destination=node/1", "/comment/reply/7", "/node/7/revisions", "", "/node/7", "/user/7"},
	"drupal sorting":      {"/liste?order=title&sort=asc", "/liste?sort=desc&order=Name", "", "/liste?page=2"},
	"drupal print":        {"/print/12", "/printpdf/node/12", "", "/printerei"},
	"joomla print":        {"/vereine?tmpl=component&print=1", "/?format=feed&type=rss", "/component/users/?view=login", "", "/vereine", "/component/content/article/7"},
	"typo3 print":         {"/index.php?id=7&type=98", "", "/index.php?id=7&type=980", "/index.php?id=7"},
	"blogger feeds":       {"/feeds/posts/default", "/2026/03/fest.html?m=1", "", "/2026/03/fest.html"},
	"blogger archives":    {"/2026/03/", "/2026_03_01_archive.html", "/search/label/orte", "", "/search?updated-max=2026-03-01T00:00:00"},
	"ghost feeds":         {"/rss/", "", "/rssfeste/"},
	"ghost archives":      {"/tag/orte/", "", "/orte/"},
}

func parse(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse("http://a.example" + raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Every line of the table recognises what it is for; other links of the same software are left alone,
// and a site that only looks alike loses nothing.
func TestRules(t *testing.T) {
	for _, name := range known().names[1:] {
		if len(marked[name]) == 0 {
			t.Errorf("no example of a mark of %s", name)
		}
		for _, m := range marked[name] {
			if got := Of([]string{"server: Apache", m}).Names(); !slices.Contains(got, name) {
				t.Errorf("%q is a mark of %q, want %s", m, got, name)
			}
		}
	}
	for _, r := range known().rules {
		cut := slices.Index(linked[r.Name], "")
		if cut < 0 {
			cut = len(linked[r.Name])
		}
		if cut == 0 {
			t.Errorf("no example of %s", r.Name)
		}
		set := Set(0).With(r.Name)
		for i, raw := range linked[r.Name] {
			if i == cut {
				continue
			}
			got, ok := set.Find(parse(t, raw))
			if (ok && got.Name == r.Name) != (i < cut) || i > cut && ok {
				t.Errorf("%s is of %q (%v), and listed under %s", raw, got.Name, ok, r.Name)
			}
			if other, ok := Set(0).Find(parse(t, raw)); ok && !strings.HasPrefix(r.Name, "any ") {
				t.Errorf("%s is of %q on a host without a mark of any software", raw, other.Name)
			}
		}
		if set.Parks(r.Name) != r.Park || r.of != anySoftware && Set(0).Parks(r.Name) {
			t.Errorf("%s: parks %v, want %v", r.Name, set.Parks(r.Name), r.Park)
		}
	}
	if got := Of([]string{"title: Index of prices", "generator: My WordPress theme", "body: content"}); got != 0 {
		t.Errorf("marks of nothing are taken for %q", got.Names())
	}
}

func TestNames(t *testing.T) {
	s := Of([]string{"generator: Drupal 10", "title: Index of /x"})
	if got := Named(append(s.Names(), "unheard-of")); got != s || len(s.Names()) != 2 {
		t.Errorf("%q came back as %q", s.Names(), got.Names())
	}
}

func TestTable(t *testing.T) {
	for _, line := range []string{"park any x y", "park any # a", "mark wiki ( # a", "hide any x y # a", "park any a b c # a"} {
		if err := new(catalogue).read(line); err == nil {
			t.Errorf("%q is a line of the table", line)
		}
	}
}

// The law of foreign URLs and marks: what is found is a rule of the set, and parks what it says.
func FuzzFind(f *testing.F) {
	f.Add("/index.php?title=A&action=edit", "generator: MediaWiki 1")
	f.Add("/?C=N;O=D", "title: Index of /")
	f.Fuzz(func(t *testing.T, raw, mark string) {
		u, err := weburl.Parse("http://a.example/" + raw)
		if err != nil {
			return
		}
		s := Of([]string{mark})
		if r, ok := s.Find(u); ok && (s.Parks(r.Name) != r.Park || s.With(r.Name) != s) {
			t.Errorf("%s of %q: %+v", u, s.Names(), r)
		}
	})
}
