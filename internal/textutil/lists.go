package textutil

import "strings"

// Lists reads named texts such as lists of words: a line "name: text", and lines
// behind it that begin with white space, which go on. Lines with # are comments.
func Lists(file string) map[string]string {
	lines := map[string][]string{}
	name := ""
	for line := range strings.Lines(file) {
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			name, text, _ = strings.Cut(text, ":")
			text = strings.TrimSpace(text)
		}
		lines[name] = append(lines[name], text)
	}
	lists := map[string]string{}
	for name, texts := range lines {
		lists[name] = strings.TrimSpace(strings.Join(texts, " "))
	}
	return lists
}
