#!/usr/bin/env bash
# A small town's web of real software: an Apache listing, MediaWiki, DokuWiki, WordPress (each with 20
# pages of known addresses among 40 or more without) and 40 small sites, crawled in the default order
# and breadth first. It prints for each how many of the pages fetched were links that such software
# makes for its users alone, and how many addresses were found, and fails if one was not.
#   PROGRAM=bin/gazehound PAGES=600 FLAGS="--software off" .ci/software.sh
# Needs apache2, php-cli with its usual modules, and mariadb-server; the rest is fetched as Debian
# packages and unpacked in a folder that is deleted at the end. KEEP=folder keeps it and its web.
set -euo pipefail -m # with -m each server is a process group, which ends whole
program=$(realpath "${PROGRAM:-bin/gazehound}") pages=${PAGES:-600}
for tool in apache2 php mariadbd mariadb-install-db apt-get dpkg curl; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 0; }
done
work=${KEEP:-$(mktemp -d)}
mkdir -p "$work"/{deb,log} && cd "$work"
pids=()
stop() {
  for pid in "${pids[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
  sleep 1
  for pid in "${pids[@]}"; do kill -KILL -- "-$pid" 2>/dev/null || true; done # workers of PHP outlive their server
  wait || true
  [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap stop EXIT
trap 'echo "failed in line $LINENO; $work/log has what the software said"; tail -n 3 "$work"/log/*' ERR
chmod 755 "$work"

port() { php -r '$s = stream_socket_server("tcp://127.0.0.1:0"); echo explode(":", stream_socket_get_name($s, false))[1];'; }
serve() { # serve NAME FOLDER [ROUTER]: PHP's own server for one piece of software
  local to
  to=$(port)
  PHP_CLI_SERVER_WORKERS=2 php -d include_path=. -d opcache.enable_cli=1 -S "127.0.0.1:$to" -t "$2" ${3:+"$3"} >"log/$1" 2>&1 &
  pids+=($!)
  base=http://$1.localhost:$to
}
address() { echo "$1 $2, 26931 Musterau"; } # address STREET NUMBER
filler() { sed -n "$1p" fillers.txt; } # filler N: a paragraph that is another one for each N, 1 to 6,000
php -r '$w = explode(" ", "Rat Markt Fest Weg Haus Garten Kinder Verein Winter Sommer Brücke Fluss Schule Musik Straße Abend Treffen Kreis Halle Chor Mühle Feuerwehr Bericht Plan Antrag Jahr Woche offen neu groß klein alt"); for ($n = 1; $n <= 6000; $n++) { mt_srand($n); for ($i = 0; $i < 80; $i++) echo $w[mt_rand(0, count($w) - 1)], $i % 11 == 10 ? ". " : " "; echo "\n"; }' >fillers.txt

[ -d root ] || {
  (cd deb && apt-get download mediawiki mediawiki-classes dokuwiki wordpress wordpress-theme-twentytwentyone php-geshi php-phpseclib libphp-simplepie >/dev/null 2>../log/apt) ||
    { echo "skipped: the packages cannot be fetched: $(tail -1 log/apt)"; exit 0; }
  for package in deb/*.deb; do dpkg -x "$package" root; done
}

# The gazetteer: six streets with 40 houses each.
{
  echo street,housenumber,postcode,city,country,lat,lon
  n=0
  for street in Ahornweg Birkenallee Dorfstraße Eichenweg Marktstraße Ulmenweg; do
    for number in $(seq 40); do n=$((n + 1)); echo "$street,$number,26931,Musterau,DE,53.1$n,8.2$n"; done
  done
} >places.csv

# Apache: a listing of 43 folders with 3 pages each, 20 of them with an address, and 40 small sites.
rm -rf web && mkdir -p web/listing.localhost
apache=$(port)
for i in $(seq 43); do
  d=web/listing.localhost/archiv/ordner$i; mkdir -p $d
  for j in 1 2 3; do echo "<title>Blatt $i-$j</title><p>$(filler $((i * 10 + j)))" >$d/blatt$j.html; done
  [ $i -gt 20 ] || echo "<p>Laden $i, $(address Ahornweg $i)" >>$d/blatt2.html
done
for i in $(seq 40); do
  d=web/laden$i.localhost; mkdir -p $d
  next=$((i % 40 + 1)) other=$(((i * 7) % 40 + 1))
  menu="<a href=/>Start</a> <a href=angebot.html>Angebot</a> <a href=kontakt.html>Kontakt</a>"
  echo "<title>Laden $i</title><p>$menu<p>$(filler $((1000 + i))) <a href=http://laden$next.localhost:$apache/>Nachbarn</a> <a href=http://laden$other.localhost:$apache/>Freunde</a>" >$d/index.html
  echo "<title>Angebot</title><p>$menu<p>$(filler $((2000 + i)))" >$d/angebot.html
  echo "<title>Kontakt</title><p>$menu<p>Laden $i<br>$(address Birkenallee $i)" >$d/kontakt.html
done
modules=$(dirname "$(find /usr/lib/apache2 -name mod_autoindex.so)")
cat >apache.conf <<CONF
ServerRoot $work
Listen 127.0.0.1:$apache
ServerName listing.localhost
PidFile $work/apache.pid
$([ "$(id -u)" != 0 ] || echo User www-data)
ErrorLog $work/log/apache
$(for m in mpm_event authz_core dir autoindex mime vhost_alias; do echo "LoadModule ${m}_module $modules/mod_$m.so"; done)
TypesConfig /etc/mime.types
AddDefaultCharset utf-8
VirtualDocumentRoot $work/web/%0
DirectoryIndex index.html
<Directory $work/web>
  Options Indexes
  IndexOptions FancyIndexing
  Require all granted
</Directory>
CONF
apache2 -f "$work/apache.conf" -DFOREGROUND &
pids+=($!)
seeds="http://listing.localhost:$apache/ http://laden1.localhost:$apache/"

# MediaWiki with 60 articles, 20 with an address.
wiki=$work/root/usr/share/mediawiki
rm -rf wiki.data "$wiki/LocalSettings.php" "$wiki/extensions" "$wiki/images"; mkdir wiki.data "$wiki/extensions" "$wiki/images"
serve wiki "$wiki"
php "$wiki/maintenance/install.php" --dbtype sqlite --dbpath "$work/wiki.data" --server "$base" --scriptpath "" --lang de \
  --pass Musterau26931 Musterwiki Verwalter >log/wiki-install 2>&1
{
  echo '<mediawiki xml:lang="de">'
  for i in $(seq 60); do
    where=""; [ $i -gt 20 ] || where="Anschrift: $(address Dorfstraße $i)"
    echo "<page><title>Ort $i</title>"
    for day in 1 2 3; do
      echo "<revision><timestamp>2026-02-0${day}T00:00:00Z</timestamp><text>$(filler $((3000 + i))) $day. Siehe [[Ort $((i % 60 + 1))]]. $where [[Kategorie:Orte]]</text></revision>"
    done
    echo "</page>"
  done
  echo '</mediawiki>'
} >wiki.xml
php "$wiki/maintenance/importDump.php" wiki.xml >>log/wiki-install 2>&1
for i in $(seq 60); do echo "* [[Ort $i]]"; done | php "$wiki/maintenance/edit.php" Hauptseite >>log/wiki-install 2>&1
seeds+=" $base/"

# DokuWiki with 60 pages, 20 with an address.
doku=$work/root/usr/share/dokuwiki
find "$work/root/etc/dokuwiki" "$work/root/usr/share/dokuwiki" "$work/root/var/lib/dokuwiki" -type l | while read -r link; do
  to=$(readlink "$link"); case $to in /*) ln -sfn "$work/root$to" "$link" ;; esac
done
find "$doku" "$work/root/etc/dokuwiki" -name '*.php' -type f -exec sed -i "s#'/\(etc\|var/lib\|usr/share\)/#'$work/root/\1/#g; s#\"/\(etc\|var/lib\)/dokuwiki#\"$work/root/\1/dokuwiki#g" {} +
data=$work/root/var/lib/dokuwiki/data
rm -rf "$data/pages"; mkdir -p "$data"/{pages,attic,meta,cache,index,locks,media,media_attic,media_meta,tmp}
{
  echo "====== Orte ======"
  for i in $(seq 60); do echo "  * [[ort$i]]"; done
} >"$data/pages/start.txt"
for i in $(seq 60); do
  { echo "====== Ort $i ======"; filler $((4000 + i)); echo; [ $i -gt 20 ] || address Eichenweg $i; echo; echo "[[ort$((i % 60 + 1))]]"; } >"$data/pages/ort$i.txt"
done
# a page that is new is nofollow for its first five days
find "$data/pages" -exec touch -d '60 days ago' {} +
cat >"$work/root/etc/dokuwiki/local.php" <<CONF
<?php
\$conf['title'] = 'Musterbuch'; \$conf['lang'] = 'de'; \$conf['useacl'] = 0; \$conf['savedir'] = '$data';
CONF
serve dokuwiki "$doku"
seeds+=" $base/doku.php"

# WordPress with 60 posts, 20 with an address, tags, categories and comments.
blog=$work/root/usr/share/wordpress
rm -rf db; mariadb-install-db --no-defaults --datadir="$work/db" --auth-root-authentication-method=normal >log/mariadb-install 2>&1
mariadbd --no-defaults --datadir="$work/db" --socket="$work/db.sock" --skip-networking --user="$(id -un)" >log/mariadb 2>&1 &
pids+=($!)
for _ in $(seq 100); do [ -S db.sock ] && break; sleep 0.2; done
cat >router.php <<'PHP'
<?php
$path = $_SERVER['DOCUMENT_ROOT'] . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_file($path)) return false;
if (is_dir($path) && is_file(rtrim($path, '/') . '/index.php') && $path != $_SERVER['DOCUMENT_ROOT'] . '/') return false;
$_SERVER['SCRIPT_NAME'] = '/index.php';
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
PHP
serve blog "$blog" router.php
find "$blog" -type l | while read -r link; do
  to=$(readlink "$link"); case $to in /etc/* | /var/* | /usr/share/wordpress/*) ln -sfn "$work/root$to" "$link" ;; esac
done
cat >"$blog/wp-config.php" <<CONF
<?php
define('DB_NAME', 'blog'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:$work/db.sock');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', ''); define('WP_HOME', '$base'); define('WP_SITEURL', '$base');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_CONTENT_DIR', '$blog/wp-content'); define('WP_DEFAULT_THEME', 'twentytwentyone');
\$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
CONF
cat >blog.php <<'PHP'
<?php
[$_, $dir, $texts] = $argv;
(new mysqli('localhost', 'root', '', '', 0, dirname($texts) . '/db.sock'))->query('CREATE DATABASE IF NOT EXISTS blog');
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = 'blog.localhost';
require "$dir/wp-load.php";
require "$dir/wp-admin/includes/upgrade.php";
wp_install('Musterblatt', 'verwalter', 'bot@example.com', true, '', 'Musterau26931');
global $wp_rewrite;
$wp_rewrite->set_permalink_structure('/%year%/%monthnum%/%postname%/');
update_option('posts_per_page', 5);
foreach (file($texts, FILE_IGNORE_NEW_LINES) as $n => $text) {
    $day = sprintf('2026-%02d-%02d 12:00:00', $n % 9 + 1, $n % 27 + 1);
    $id = wp_insert_post(['post_title' => "Meldung $n", 'post_content' => $text, 'post_status' => 'publish',
        'post_author' => 1, 'post_date' => $day, 'tags_input' => ["wort" . $n % 12, "stadt" . $n % 7]]);
    wp_insert_comment(['comment_post_ID' => $id, 'comment_author' => 'Leser', 'comment_content' => "Danke für Meldung $n",
        'comment_approved' => 1]);
    wp_insert_comment(['comment_post_ID' => $id, 'comment_author' => 'Leserin', 'comment_content' => "Mehr zu $n, bitte",
        'comment_approved' => 1]);
}
flush_rewrite_rules();
PHP
for i in $(seq 60); do
  where=""; [ $i -gt 20 ] || where="Anschrift: $(address Marktstraße $i)"
  echo "<p>$(filler $((5000 + i)))</p><p>$where</p>"
done >blog.txt
php blog.php "$blog" "$work/blog.txt" >log/blog-install 2>&1
seeds+=" $base/"

for _ in $(seq 50); do curl -fsS -o /dev/null "http://127.0.0.1:$apache/" 2>/dev/null && break; sleep 0.2; done
printf '%s\n' $seeds >seeds.txt
[ -z "${WAIT:-}" ] || { echo "the web is up: $work/seeds.txt; Enter ends it"; read -r _; exit 0; }

# Links that the software makes for its users alone, and lists of pages that other links lead to.
machine='listing[^"]*\?C=|//wiki[^"]*([?&](action|oldid|diff|printable|veaction|returnto)=|Spezial(:|%3A))|dokuwiki[^"]*([?&](do|rev|idx|sectok)=|/lib/exe/|/feed\.php)|blog[^"]*(replytocom=|/feed/|/(tag|author|category)/|/wp-|/20[0-9][0-9]/([0-9][0-9]/)?(page/[0-9]+/)?"|/page/[0-9])'
crawl() { # crawl NAME FLAG…
  local name=$1 out=crawl-$1.ndjson fetched sum at
  shift
  rm -rf "$name"
  "$program" gazetteer import places.csv --format table -d "$name" -q >/dev/null 2>>log/crawl
  printf 'version: 1\nfetch:\n  adaptive_delay: false\n' >"$name/config.yaml"
  "$program" crawl -d "$name" --seeds seeds.txt --region postcodes:26931 --allow-private-addresses --delay 10ms \
    --serve off --admin off --max-pages "$pages" --json --emit page,address "$@" ${FLAGS:-} >"$out" 2>>log/crawl
  fetched=$(grep -c '"type":"page"' "$out")
  sum=$(grep '"type":"page"' "$out" | grep -cE "$machine" || true)
  found=$(grep '"type":"summary"' "$out" | grep -oE '"addresses":[0-9]+' | cut -d: -f2)
  echo "$name: $fetched pages, $sum of them such links, $found of 120 addresses"
  known "$out"
}
known() { # known FILE: how many distinct addresses the first pages of a crawl stated
  local at
  for at in 150 300 600; do
    echo "  after $at pages: $(awk -v most=$at '/"type":"page"/ && ++n > most { exit } /"type":"address"/ && match($0, /"text":"[^"]*"/) { print substr($0, RSTART, RLENGTH) }' "$1" | sort -u | wc -l) addresses"
  done
}
rm -f log/crawl
crawl breadth-first --strategy breadth-first
crawl lookahead

# Scrapy, where Debian's package is installed, breadth first on the same servers; it follows every link.
cat >spider.py <<'PY'
import json, re, socket, sys
from urllib.parse import urlsplit
import scrapy

lookup = socket.gethostbyname
socket.gethostbyname = lambda name: "127.0.0.1" if name.endswith(".localhost") else lookup(name)

class Spider(scrapy.Spider):
    name = "town"
    start_urls = open("seeds.txt").read().split()
    custom_settings = {
        "DEPTH_PRIORITY": 1, "ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 8,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    pages = 0

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        self.pages += 1
        if self.pages > int(self.most):
            raise scrapy.exceptions.CloseSpider("enough")
        print(json.dumps({"type": "page", "url": response.url}, separators=(",", ":")))
        text = " ".join(response.xpath("//body//text()").getall())
        for address in sorted(set(re.findall(r"\w+ \d+, 26931 Musterau", text))):
            print(json.dumps({"type": "address", "text": address}, separators=(",", ":"), ensure_ascii=False))
        sys.stdout.flush()
        for link in response.css("a::attr(href)").getall():
            try:
                link = response.urljoin(link.strip())
                if urlsplit(link).hostname.endswith(".localhost"):
                    yield response.follow(link)
            except (ValueError, AttributeError):
                pass
PY
if command -v scrapy >/dev/null; then
  PYTHONIOENCODING=utf-8 scrapy runspider spider.py -a most="$pages" >crawl-scrapy.ndjson 2>log/scrapy || true
  echo "scrapy: $(grep -c '"type":"page"' crawl-scrapy.ndjson) pages, $(grep '"type":"page"' crawl-scrapy.ndjson | grep -cE "$machine" || true) of them such links"
  known crawl-scrapy.ndjson
fi
[ "$found" = 120 ] || { echo "addresses are missing"; exit 1; }
