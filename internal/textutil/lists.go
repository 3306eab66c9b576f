package textutil

import "strings"

// Lists are texts by their names, such as lists of words.
type Lists map[string]string

// ReadLists reads lists: a line "name: text", and lines behind it that begin with white space, which go on. Lines
// with # are comments.
func ReadLists(file string) Lists {
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
	lists := Lists{}
	for name, texts := range lines {
		lists[name] = strings.TrimSpace(strings.Join(texts, " "))
	}
	return lists
}

// Words returns the words of a list. It panics where there is none, when a program starts.
func (l Lists) Words(name string) map[string]bool {
	if l[name] == "" {
		panic("no list of words is called " + name)
	}
	return Words(l[name])
}

// Phrases returns the phrases of a list, which commas divide.
func (l Lists) Phrases(name string) []string { return strings.Split(l[name], ", ") }

// Words returns the words of a text, which white space divides.
func Words(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		words[word] = true
	}
	return words
}
