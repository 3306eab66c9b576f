package place

import (
	"iter"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// domainLabel returns the name in a registrable domain without hyphens.
func domainLabel(host string) string { return strings.Join(domainWords(host), "") }

// domainWords returns the words of the name in a registrable domain, between hyphens.
func domainWords(host string) []string {
	if u, err := url.Parse("//" + host); err == nil {
		host = u.Hostname()
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(strings.TrimPrefix(strings.ToLower(host), "www."))
	if err != nil {
		return nil
	}
	label, _, _ := strings.Cut(site, ".")
	return strings.Split(label, "-")
}

// domainsIn yields the host names of the mail and web addresses in a text, in lower
// case. Those of free mail services are left out.
func domainsIn(text string) iter.Seq[string] {
	return func(yield func(host string) bool) {
		for _, mark := range hostMarks {
			for _, m := range mark.FindAllStringSubmatch(text, -1) {
				host := strings.Trim(strings.ToLower(m[1][:min(len(m[1]), maxHost)]), ".-")
				if strings.Contains(host, ".") && !freemail.MatchString("@"+host) && !yield(host) {
					return
				}
			}
		}
	}
}

const maxHost = 253 // bytes of the name of a host

// hostMarks lead to the name of a host.
var hostMarks = []*regexp.Regexp{regexp.MustCompile(`@([a-zA-Z0-9.-]+)`),
	regexp.MustCompile(`www\.([a-zA-Z0-9.-]+)`), regexp.MustCompile(`://([a-zA-Z0-9.-]+)`)}

// mainDomain returns the label of the domain that the mail and web addresses of a text name most, or "".
func mainDomain(text string) (best string) {
	counts := map[string]int{}
	for host := range domainsIn(text) {
		if label := domainLabel(host); label != "" {
			counts[label]++
			if counts[label] > counts[best] {
				best = label
			}
		}
	}
	return best
}

// NearHost returns the host of the first mail or web address in the text below an address, or "".
func NearHost(below string) string {
	for host := range domainsIn(below) {
		return host
	}
	return ""
}

var foldUmlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e",
	"ê", "e", "ë", "e", "á", "a", "à", "a", "â", "a", "å", "a", "æ", "ae", "ç", "c", "ñ", "n", "í", "i",
	"î", "i", "ó", "o", "ô", "o", "ø", "o", "ú", "u")

// agreement returns how well words agree with the label of a domain (Lee and Geierhos 2009), 0 to 1: 1 where they are
// the label, run together or with words left out; less where only one of them is a part of it, or where it is made of
// their beginnings.
func agreement(words []string, label string) float64 {
	if len(label) < 2 || len(words) == 0 {
		return 0
	}
	folded := make([]string, 0, len(words))
	for _, w := range words {
		if !legalForms[w] {
			folded = append(folded, foldUmlauts.Replace(w))
		}
	}
	joined := strings.Join(folded, "")
	if joined == label || len(joined) >= 4 && strings.Contains(label, joined) &&
		2*len(joined) >= len(label) || strings.Contains(joined, label) && len(label) >= 4 {
		return 1
	}
	if covers(folded, label) {
		return 0.9
	}
	longest := 0
	for _, w := range folded {
		if len(w) >= 4 && strings.Contains(label, w) {
			longest = max(longest, len(w))
		}
	}
	return min(0.7, float64(longest)/float64(len(label)))
}

// agreement returns how well words agree with the domain of the page: with all of it, or below the domain
// of a hosting service, "hanna-gasthof-adler.github.io", with what follows the name of its user.
func (h *Head) agreement(words []string) float64 {
	if len(h.domain) > 1 && isHosted(h.host) {
		rest := strings.Join(h.domain[1:], "")
		if all := agreement(words, rest); all >= 0.9 && len(strings.Join(words, "")) >= len(rest) {
			return all
		}
	}
	return agreement(words, h.label)
}

// isHosted reports whether a host is named below the domain of a service that lets everybody do so.
func isHosted(host string) bool {
	suffix, public := publicsuffix.PublicSuffix(strings.ToLower(host))
	return !public && strings.Contains(suffix, ".") // not an unknown top-level domain
}

// covers reports whether label is made of beginnings of words in their order, of
// the first and at least one more; words may be left out.
func covers(words []string, label string) bool {
	const most = 63 // bytes of a label
	if len(words) < 2 || len(label) > most {
		return false
	}
	reached := [most + 1]bool{} // that many bytes of label, by the words so far
	for n := 1; n <= min(len(words[0]), len(label)-1) && words[0][n-1] == label[n-1]; n++ {
		reached[n] = true
	}
	for _, w := range words[1:min(len(words), MaxNameWords)] {
		for at := len(label) - 1; at > 0; at-- {
			if !reached[at] {
				continue
			}
			for n := 1; n <= min(len(w), len(label)-at) && w[n-1] == label[at+n-1]; n++ {
				reached[at+n] = true
			}
		}
	}
	return reached[len(label)]
}
