package weburl

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// ParseTyped parses a URL as people type it. Without a scheme it gets https, and guessed is true.
// problem describes an invalid URL, else it is "".
func ParseTyped(text string) (u URL, guessed bool, problem string) {
	scheme, _, hasScheme := strings.Cut(text, "://")
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "mailto:"), strings.HasPrefix(lower, "tel:"), strings.HasPrefix(lower, "javascript:"):
		return u, false, fmt.Sprintf("%s is not crawled", strings.SplitN(lower, ":", 2)[0])
	case hasScheme && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return u, false, fmt.Sprintf("%.40q is not crawled", scheme)
	case !hasScheme && strings.ContainsAny(text, " \t"), !hasScheme && !strings.Contains(text, "."):
		return u, false, fmt.Sprintf("%.80q is not a URL", text)
	case !hasScheme:
		text = "https://" + text
	}
	u, err := Parse(text)
	if err != nil {
		return u, !hasScheme, err.Error()
	}
	return u, !hasScheme, ""
}

// maxTypedLine bounds a line of a file of URLs, in bytes.
const maxTypedLine = 64 << 10

// ReadTyped calls line with the lines of r that are neither empty nor comments, which begin with "#",
// and their numbers from 1 on.
func ReadTyped(r io.Reader, line func(n int, text string)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTypedLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text != "" && !strings.HasPrefix(text, "#") {
			line(n, text)
		}
	}
	return lines.Err()
}
