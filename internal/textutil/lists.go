package textutil

import "strings"

// Lists reads named texts such as lists of words: a line "name: text", and lines
// behind it that begin with white space, which go on. Lines with # are comments.
func Lists(file string) map[string]string {
	lists := map[string]string{}
	name := ""
	for line := range strings.Lines(file) {
		if text := strings.TrimSpace(line); text == "" || text[0] == '#' {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			name, line, _ = strings.Cut(line, ":")
		}
		lists[name] = strings.TrimSpace(lists[name] + " " + strings.TrimSpace(line))
	}
	return lists
}
