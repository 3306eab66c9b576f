package monitor

import (
	"fmt"
	"strings"
)

// words are what the dashboard says in one language. A text may have a form for
// one and another for many, with "|" between them; its values stand at %s.
type words map[string]string

// say fills a text in.
func (t words) say(key string, args ...any) string { return fmt.Sprintf(t[key], args...) }

// sayOf fills in the form of a text that n asks for.
func (t words) sayOf(n int64, key string, args ...any) string {
	one, many, _ := strings.Cut(t[key], "|")
	if n == 1 {
		return fmt.Sprintf(one, args...)
	}
	return fmt.Sprintf(many, args...)
}

// number writes n with a mark at the thousands.
func (t words) number(n int64) string {
	if n < 0 {
		return "-" + t.number(-n)
	}
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + t["thousands"] + text[i:]
	}
	return text
}

// of says how many of all hosts there are.
func (t words) of(n, all int64) string {
	switch {
	case n != all:
		return t.sayOf(all, "some_hosts", t.number(n), t.number(all))
	case n == 1:
		return t.say("only_host")
	}
	return t.say("all_hosts", t.number(n))
}

// ofScript returns what the script of the page says, by the rest of its keys.
func (t words) ofScript() words {
	script := words{}
	for key, text := range t {
		if name, ok := strings.CutPrefix(key, "js_"); ok {
			script[name] = text
		} else if strings.HasPrefix(key, "feature_") {
			script[key] = text
		}
	}
	return script
}

// texts are the words by language. What begins with "page_" stands on the page,
// what begins with "js_" is for its script, and what begins with "feature_" for
// both; the others are said by the Snapshot and the Board, whose English is that
// of the terminal and the API, too.
var texts = map[string]words{
	"en": {
		"thousands":   ",",
		"only_host":   "the only host",
		"all_hosts":   "all %s hosts",
		"some_hosts":  "%s of %s host|%s of %s hosts",
		"only_worker": "the only worker is",
		"all_workers": "all %s workers are",
		"cores":       "%s processor core is|%s processor cores are",
		"rest":        " The next one may be asked in %v.",
		"held":        "no page is begun until somebody lets it go on.",
		"resting":     "no link may be fetched; pages that are due are asked again in the next round.",
		"finished":    "no link is left.",
		"blocked":     "%s with links asked for patience (429 or 503).%s A longer delay would help.",
		"politeness":  "%s with links waits for its delay.%s More hosts (seeds) would help; more workers would not.|%s with links wait for their delay.%s More hosts (seeds) would help; more workers would not.",
		"selecting":   "%s worker waits for the hosts of better links (crawl.selectivity). More hosts (seeds) would help; more workers would not.|%s workers wait for the hosts of better links (crawl.selectivity). More hosts (seeds) would help; more workers would not.",
		"seeds":       "%s page is being fetched and no other link waits. More seeds would help.|%s pages are being fetched and no other link waits. More seeds would help.",
		"processor":   "%s busy and so %s. A faster machine would help; more workers would not.",
		"network":     "%s busy, and %s more host could be asked. More workers would help.|%s busy, and %s more hosts could be asked. More workers would help.",
		"store":       "%s of %s workers are busy although %s host could be asked: what was found is being written. A faster disk would help.|%s of %s workers are busy although %s hosts could be asked: what was found is being written. A faster disk would help.",
		"limit":       "%s: %s pages, %.0f %% of them relevant. max_pages in the hosts section would limit it.",
		"stop":        "The last %s pages brought no new street: it may be time to stop.",
		"go_on":       "The last %s pages brought %s new street: worth going on.|The last %s pages brought %s new streets: worth going on.",

		"page_title": "crawl", "page_connecting": "Connecting …", "page_control": "Control", "page_pause": "Pause", "page_checkpoint": "Checkpoint", "page_checkpoint_why": "Write model and curves to the disk now", "page_stop": "Stop",
		"page_token": "Token of this listener (admin.token_file)", "page_open": "Open", "page_figures": "Figures", "page_pages": "pages", "page_relevant": "relevant", "page_addresses": "addresses", "page_streets": "streets found",
		"page_rate": "pages a second", "page_queued": "links waiting", "page_errors": "errors", "page_memory": "memory", "page_harvest": "Relevant among the last 1,000 pages", "page_span": "Time shown", "page_span_10m": "10 min", "page_span_6h": "6 h", "page_span_90d": "90 d",
		"page_harvest_curve": "Harvest over time", "page_mine": "this crawl", "page_breadth": "breadth-first on the same links, estimated", "page_found": "Found so far", "page_map": "Map of the addresses found", "page_when": "At the time", "page_now": "now",
		"page_dot": "address found", "page_street": "street with one", "page_street_open": "street without any yet", "page_rate_title": "Pages a second", "page_rate_curve": "Pages a second over time", "page_queue_title": "Links waiting", "page_queue_curve": "Links waiting over time",
		"page_hosts": "Hosts", "page_host": "host", "page_robots": "robots", "page_state": "state", "page_troubles": "Errors and skipped pages", "page_reason": "reason", "page_kind": "kind", "page_all": "all", "page_lately": "last 10 min",
		"page_next": "Next links", "page_priority": "priority", "page_link": "link", "page_why": "Why this link?", "page_url": "URL", "page_any_url": "https://… any URL of the crawl", "page_ask": "Why?", "page_choose": "Choose a link, or ask for a URL.",
		"page_model": "What the model believes", "page_feature": "Feature", "page_all_features": "all features", "page_ahead": "Links ahead", "page_ahead_1": "1 link", "page_ahead_2": "2 links", "page_ahead_3": "3 links", "page_for": "speaks for a link", "page_against": "speaks against",
		"page_missing": "Streets with the most houses not found yet", "page_street_name": "street", "page_found_houses": "found", "page_houses": "houses", "page_share": "share", "page_advice": "Advice",
		"page_metrics": "metrics", "page_health": "health", "page_terminal": "the same in a terminal:", "page_noscript": "This page needs JavaScript; /v1/crawl has its figures as JSON, and a terminal shows them:",
		"feature_host": "host", "feature_path": "path", "feature_anchor": "anchor", "feature_title": "title", "feature_around": "around", "feature_switch": "switch",

		"js_running": "running %s · %s", "js_ended": "ended after %s · %s", "js_stopping": "stopping after %s", "js_open_pages": "Open pages finish.", "js_paused": "paused", "js_held": "Open pages finish; no other is begun.", "js_resume": "Resume", "js_pause": "Pause",
		"js_bound_politeness": "politeness-bound", "js_bound_blocked": "blocked", "js_bound_network": "network-bound", "js_bound_processor": "processor-bound", "js_bound_store": "store-bound", "js_bound_seed": "seed-bound", "js_bound_finished": "finished", "js_bound_resting": "resting",
		"js_end_done": "no link is left", "js_end_crawl-failed": "no seed could be downloaded", "js_end_page-limit": "page limit", "js_end_failures": "too many failures in a row", "js_end_time-limit": "time limit", "js_end_disk-reserve": "the disk is nearly full", "js_end_request": "stopped on request", "js_end_signal": "stopped by a signal", "js_end_error": "an error",
		"js_this_run": "%s this run", "js_breadth": "breadth-first: %s est.", "js_unknown": "not known yet", "js_of_streets": "of %s, %s of them lately", "js_busy": "%s of %s workers busy", "js_seen": "%s seen", "js_due": "first %s pages again", "js_of_visits": "%s of the visits", "js_memory": "of %s, %s of files mapped; %s of %s cores", "js_a_minute": "+%s a minute",
		"js_hosts": "%s known; of those with links %s may be asked and %s wait, %s of them because they asked for patience.", "js_loss": "Log-loss of the last 1,000 predictions, 1 · 2 · 3 links ahead: %s (0.69 is a coin).", "js_no_advice": "Nothing to advise yet.",
		"js_grows": "Likely end: not in sight, the queue grows by %s links a page.", "js_end": "Likely end: in %s, at the present pace.", "js_nothing_found": "Nothing found yet", "js_map": "Map of the addresses found: %s place|Map of the addresses found: %s places", "js_map_until": "Map of the addresses found until %s: %s place|Map of the addresses found until %s: %s places",
		"js_now": "now", "js_then": "%s: %s place|%s: %s places", "js_refused": "%s, %s refused", "js_spark": "%s in the last ten minutes, at most %s in ten seconds", "js_none": "none so far", "js_why": "why?", "js_why_link": "Why %s", "js_from": "from %s within %s", "js_term": "%s relevant, %s other", "js_nothing": "nothing yet", "js_of_houses": "%s of %s",
		"js_waits": "Waits with priority %s by strategy %s.", "js_was_queued": "It was queued with %s.", "js_visited": "Visited: %s.", "js_relevant": "relevant", "js_not_relevant": "not relevant", "js_addresses": "%s address.|%s addresses.", "js_link": "Link “%s”.", "js_link_near": "Link “%s”, near “%s”.", "js_path": "Path: %s", "js_seed": "seed",
		"js_distance": "%s link since the last relevant page or seed, %s from a seed.|%s links since the last relevant page or seed, %s from a seed.", "js_sum": "Priority %s = %s by distance + %s by the model.", "js_demoted": "Demoted × %s: %s", "js_worth": "Worth, log-odds %s", "js_ahead": "%s ahead: %s", "js_untrained": "learned too little so far",
		"js_learned": "Learned: %s is relevant.", "js_learned_not": "Learned: %s is not relevant.", "js_wrong": "Wrong verdict? Say so, and the model learns it:", "js_up": "👍 relevant", "js_down": "👎 not relevant", "js_closed": "closed", "js_wants_token": "This listener asks for its token.", "js_not_known": "The crawl does not know this URL.", "js_failed": "That did not work: %s",
		"js_lost": "no connection: the crawl has ended, or is not to be reached", "js_lost_why": "The figures are the last that came. “gazehound crawl” goes on with a crawl that has ended.", "js_saved": "Model and curves are on the disk.", "js_confirm_stop": "Stop the crawl? Open pages finish, and the same command goes on with it.", "js_open": "“", "js_close": "”",
		"js_kind_page": "page", "js_kind_redirect": "redirect", "js_kind_error": "error", "js_kind_skipped": "skipped", "js_robots_allowed": "allowed", "js_robots_in_part": "in part", "js_robots_forbidden": "forbidden", "js_robots_unreachable": "unreachable",
		"js_state_ready": "ready", "js_state_asked": "asked", "js_state_waiting": "waiting", "js_state_backoff": "backoff",
		"js_reason_dns": "name without address (DNS)", "js_reason_connect": "no connection", "js_reason_tls": "no trust (TLS)", "js_reason_timeout": "timeout", "js_reason_too_large": "too large", "js_reason_content_type": "not a page", "js_reason_private_address": "private address", "js_reason_protocol": "broken answer", "js_reason_parse": "unreadable",
		"js_reason_http_4xx": "not there (4xx)", "js_reason_http_429": "too many requests (429)", "js_reason_http_5xx": "server error (5xx)", "js_reason_bad_redirect": "bad redirect", "js_reason_redirect_loop": "redirect loop", "js_reason_sitemap": "sitemap", "js_reason_robots": "robots.txt forbids it", "js_reason_robots_unreachable": "robots.txt unreachable",
		"js_reason_noindex": "asks not to be indexed", "js_reason_no_copy": "no copy in the archive", "js_reason_no_content": "no content", "js_reason_tdm_reserved": "rights reserved (TDM)", "js_reason_visited_elsewhere": "visited by another node",
	},
	"de": {
		"thousands":   ".",
		"only_host":   "der einzige Host",
		"all_hosts":   "alle %s Hosts",
		"some_hosts":  "%s von %s Host|%s von %s Hosts",
		"only_worker": "der einzige Worker arbeitet",
		"all_workers": "alle %s Worker arbeiten",
		"cores":       "%s Prozessorkern|%s Prozessorkerne",
		"rest":        " Der nächste darf in %v gefragt werden.",
		"held":        "es beginnt keine Seite, bis jemand den Crawl weiterlaufen lässt.",
		"resting":     "kein Link darf geholt werden; fällige Seiten werden in der nächsten Runde wieder gefragt.",
		"finished":    "kein Link ist mehr übrig.",
		"blocked":     "%s mit Links: um Geduld gebeten (429 oder 503).%s Ein längerer Abstand würde helfen.",
		"politeness":  "%s mit Links wartet, bis er wieder gefragt werden darf.%s Mehr Hosts (Seeds) würden helfen, mehr Worker nicht.|%s mit Links warten, bis sie wieder gefragt werden dürfen.%s Mehr Hosts (Seeds) würden helfen, mehr Worker nicht.",
		"selecting":   "%s Worker wartet auf die Hosts besserer Links (crawl.selectivity). Mehr Hosts (Seeds) würden helfen, mehr Worker nicht.|%s Worker warten auf die Hosts besserer Links (crawl.selectivity). Mehr Hosts (Seeds) würden helfen, mehr Worker nicht.",
		"seeds":       "%s Seite wird geholt, und kein anderer Link wartet. Mehr Seeds würden helfen.|%s Seiten werden geholt, und kein anderer Link wartet. Mehr Seeds würden helfen.",
		"processor":   "%s, ebenso %s. Ein schnellerer Rechner würde helfen, mehr Worker nicht.",
		"network":     "%s, und %s Host könnte noch gefragt werden. Mehr Worker würden helfen.|%s, und %s Hosts könnten noch gefragt werden. Mehr Worker würden helfen.",
		"store":       "%s von %s Workern arbeiten, obwohl %s Host gefragt werden könnte: Was gefunden wurde, wird gerade geschrieben. Eine schnellere Platte würde helfen.|%s von %s Workern arbeiten, obwohl %s Hosts gefragt werden könnten: Was gefunden wurde, wird gerade geschrieben. Eine schnellere Platte würde helfen.",
		"limit":       "%s: %s Seiten, davon %.0f %% relevant. max_pages im Abschnitt hosts begrenzt ihn.",
		"stop":        "Die letzten %s Seiten brachten keine neue Straße: Vielleicht ist es genug.",
		"go_on":       "Die letzten %s Seiten brachten %s neue Straße: Weitermachen lohnt sich.|Die letzten %s Seiten brachten %s neue Straßen: Weitermachen lohnt sich.",

		"page_title": "Crawl", "page_connecting": "Verbindung wird aufgebaut …", "page_control": "Steuerung", "page_pause": "Pause", "page_checkpoint": "Sichern", "page_checkpoint_why": "Modell und Kurven jetzt auf die Platte schreiben", "page_stop": "Beenden",
		"page_token": "Token dieser Adresse (admin.token_file)", "page_open": "Öffnen", "page_figures": "Zahlen", "page_pages": "Seiten", "page_relevant": "relevant", "page_addresses": "Adressen", "page_streets": "Straßen gefunden",
		"page_rate": "Seiten je Sekunde", "page_queued": "wartende Links", "page_errors": "Fehler", "page_memory": "Speicher", "page_harvest": "Relevante unter den letzten 1.000 Seiten", "page_span": "Gezeigte Zeit", "page_span_10m": "10 min", "page_span_6h": "6 h", "page_span_90d": "90 d",
		"page_harvest_curve": "Ausbeute im Lauf der Zeit", "page_mine": "dieser Crawl", "page_breadth": "Breitensuche auf denselben Links, geschätzt", "page_found": "Bisher gefunden", "page_map": "Karte der gefundenen Adressen", "page_when": "Zur Zeit", "page_now": "jetzt",
		"page_dot": "gefundene Adresse", "page_street": "Straße mit einer", "page_street_open": "Straße noch ohne", "page_rate_title": "Seiten je Sekunde", "page_rate_curve": "Seiten je Sekunde im Lauf der Zeit", "page_queue_title": "Wartende Links", "page_queue_curve": "Wartende Links im Lauf der Zeit",
		"page_hosts": "Hosts", "page_host": "Host", "page_robots": "robots.txt", "page_state": "Zustand", "page_troubles": "Fehler und übergangene Seiten", "page_reason": "Grund", "page_kind": "Art", "page_all": "alle", "page_lately": "letzte 10 min",
		"page_next": "Nächste Links", "page_priority": "Priorität", "page_link": "Link", "page_why": "Warum dieser Link?", "page_url": "URL", "page_any_url": "https://… eine URL des Crawls", "page_ask": "Warum?", "page_choose": "Einen Link wählen oder nach einer URL fragen.",
		"page_model": "Was das Modell glaubt", "page_feature": "Merkmal", "page_all_features": "alle Merkmale", "page_ahead": "Links voraus", "page_ahead_1": "1 Link", "page_ahead_2": "2 Links", "page_ahead_3": "3 Links", "page_for": "spricht für einen Link", "page_against": "spricht dagegen",
		"page_missing": "Straßen mit den meisten noch nicht gefundenen Häusern", "page_street_name": "Straße", "page_found_houses": "gefunden", "page_houses": "Häuser", "page_share": "Anteil", "page_advice": "Rat",
		"page_metrics": "Messwerte", "page_health": "Befinden", "page_terminal": "dasselbe im Terminal:", "page_noscript": "Diese Seite braucht JavaScript; /v1/crawl hat ihre Zahlen als JSON, und ein Terminal zeigt sie:",
		"feature_host": "Host", "feature_path": "Pfad", "feature_anchor": "Linktext", "feature_title": "Titel", "feature_around": "Umgebung", "feature_switch": "Wechsel",

		"js_running": "läuft seit %s · %s", "js_ended": "beendet nach %s · %s", "js_stopping": "endet nach %s", "js_open_pages": "Offene Seiten werden fertig.", "js_paused": "angehalten", "js_held": "Offene Seiten werden fertig; keine andere beginnt.", "js_resume": "Weiter", "js_pause": "Pause",
		"js_bound_politeness": "durch Höflichkeit gebremst", "js_bound_blocked": "blockiert", "js_bound_network": "durch das Netz gebremst", "js_bound_processor": "durch den Prozessor gebremst", "js_bound_store": "durch die Platte gebremst", "js_bound_seed": "zu wenige Seeds", "js_bound_finished": "fertig", "js_bound_resting": "ruht",
		"js_end_done": "kein Link ist mehr übrig", "js_end_crawl-failed": "kein Seed ließ sich laden", "js_end_page-limit": "Seitengrenze erreicht", "js_end_failures": "zu viele Fehler hintereinander", "js_end_time-limit": "Zeitgrenze erreicht", "js_end_disk-reserve": "die Platte ist fast voll", "js_end_request": "auf Wunsch beendet", "js_end_signal": "durch ein Signal beendet", "js_end_error": "ein Fehler",
		"js_this_run": "%s in diesem Lauf", "js_breadth": "Breitensuche: %s gesch.", "js_unknown": "noch nicht bekannt", "js_of_streets": "von %s, davon %s zuletzt", "js_busy": "%s von %s Workern arbeiten", "js_seen": "%s gesehen", "js_due": "zuerst %s Seiten wieder", "js_of_visits": "%s der Besuche", "js_memory": "von %s, %s eingeblendete Dateien; %s von %s Kernen", "js_a_minute": "+%s je Minute",
		"js_hosts": "%s bekannt; von denen mit Links dürfen %s gefragt werden und %s warten, davon %s, weil sie um Geduld baten.", "js_loss": "Log-Loss der letzten 1.000 Vorhersagen, 1 · 2 · 3 Links voraus: %s (0,69 ist ein Münzwurf).", "js_no_advice": "Noch nichts zu raten.",
		"js_grows": "Ende nicht in Sicht: Die Warteschlange wächst um %s Links je Seite.", "js_end": "Voraussichtliches Ende: in %s, wenn es so weitergeht.", "js_nothing_found": "Noch nichts gefunden", "js_map": "Karte der gefundenen Adressen: %s Ort|Karte der gefundenen Adressen: %s Orte", "js_map_until": "Karte der bis %s gefundenen Adressen: %s Ort|Karte der bis %s gefundenen Adressen: %s Orte",
		"js_now": "jetzt", "js_then": "%s: %s Ort|%s: %s Orte", "js_refused": "%s, %s verweigert", "js_spark": "%s in den letzten zehn Minuten, höchstens %s in zehn Sekunden", "js_none": "bisher keine", "js_why": "warum?", "js_why_link": "Warum %s", "js_from": "von %s an in %s", "js_term": "%s relevant, %s andere", "js_nothing": "noch nichts", "js_of_houses": "%s von %s",
		"js_waits": "Wartet mit Priorität %s nach Strategie %s.", "js_was_queued": "Eingereiht wurde er mit %s.", "js_visited": "Besucht: %s.", "js_relevant": "relevant", "js_not_relevant": "nicht relevant", "js_addresses": "%s Adresse.|%s Adressen.", "js_link": "Link „%s“.", "js_link_near": "Link „%s“, bei „%s“.", "js_path": "Weg: %s", "js_seed": "Seed",
		"js_distance": "%s Link seit der letzten relevanten Seite oder dem Seed, %s von einem Seed.|%s Links seit der letzten relevanten Seite oder dem Seed, %s von einem Seed.", "js_sum": "Priorität %s = %s durch die Entfernung + %s durch das Modell.", "js_demoted": "Zurückgestuft × %s: %s", "js_worth": "Wert, Log-Odds %s", "js_ahead": "%s voraus: %s", "js_untrained": "noch zu wenig gelernt",
		"js_learned": "Gelernt: %s ist relevant.", "js_learned_not": "Gelernt: %s ist nicht relevant.", "js_wrong": "Falsch beurteilt? Sagen Sie es, und das Modell lernt es:", "js_up": "👍 relevant", "js_down": "👎 nicht relevant", "js_closed": "geschlossen", "js_wants_token": "Hier wird ein Token verlangt.", "js_not_known": "Der Crawl kennt diese URL nicht.", "js_failed": "Das ging nicht: %s",
		"js_lost": "keine Verbindung: Der Crawl ist zu Ende oder nicht zu erreichen", "js_lost_why": "Die Zahlen sind die letzten, die kamen. „gazehound crawl“ setzt einen beendeten Crawl fort.", "js_saved": "Modell und Kurven sind auf der Platte.", "js_confirm_stop": "Den Crawl beenden? Offene Seiten werden fertig, und derselbe Befehl setzt ihn fort.", "js_open": "„", "js_close": "“",
		"js_kind_page": "Seite", "js_kind_redirect": "Weiterleitung", "js_kind_error": "Fehler", "js_kind_skipped": "übergangen", "js_robots_allowed": "erlaubt", "js_robots_in_part": "zum Teil", "js_robots_forbidden": "verboten", "js_robots_unreachable": "unerreichbar",
		"js_state_ready": "bereit", "js_state_asked": "gefragt", "js_state_waiting": "wartet", "js_state_backoff": "bat um Geduld",
		"js_reason_dns": "Name ohne Adresse (DNS)", "js_reason_connect": "keine Verbindung", "js_reason_tls": "nicht vertraut (TLS)", "js_reason_timeout": "Zeit abgelaufen", "js_reason_too_large": "zu groß", "js_reason_content_type": "keine Seite", "js_reason_private_address": "private Adresse", "js_reason_protocol": "kaputte Antwort", "js_reason_parse": "unlesbar",
		"js_reason_http_4xx": "nicht vorhanden (4xx)", "js_reason_http_429": "zu viele Anfragen (429)", "js_reason_http_5xx": "Fehler des Servers (5xx)", "js_reason_bad_redirect": "kaputte Weiterleitung", "js_reason_redirect_loop": "Weiterleitung im Kreis", "js_reason_sitemap": "Sitemap", "js_reason_robots": "robots.txt verbietet es", "js_reason_robots_unreachable": "robots.txt unerreichbar",
		"js_reason_noindex": "will nicht in den Index", "js_reason_no_copy": "keine Kopie im Archiv", "js_reason_no_content": "ohne Inhalt", "js_reason_tdm_reserved": "Rechte vorbehalten (TDM)", "js_reason_visited_elsewhere": "von einem anderen Knoten besucht",
	},
}
