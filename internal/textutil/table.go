package textutil

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// tableWidth is that of a terminal, in characters.
const tableWidth = 80

// WriteTable writes rows in columns as wide as their longest cell, the first one to the left and
// numbers to the right. Columns for which a line has no room follow in a table below, behind the first
// column again.
func WriteTable(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b bytes.Buffer
	for from, to := 1, 0; to < len(widths); from = to {
		to = from
		for used := widths[0]; to < len(widths) && (to == from || used+2+widths[to] <= tableWidth); to++ {
			used += 2 + widths[to]
		}
		if from > 1 {
			fmt.Fprintln(&b)
		}
		for _, row := range rows {
			line := fmt.Sprintf("%-*s", widths[0], row[0])
			for i := from; i < min(to, len(row)); i++ {
				line += fmt.Sprintf("  %*s", widths[i], row[i])
			}
			fmt.Fprintln(&b, strings.TrimRight(line, " "))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

var markdownCell = strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'")

// MarkdownCell returns text that neither ends a cell of a table in Markdown nor is markup.
func MarkdownCell(text string) string { return markdownCell.Replace(text) }

// WriteMarkdown writes rows as a table in Markdown, the titles first. Two spaces
// before the first cell of a row mark it as a part of the one above.
func WriteMarkdown(w io.Writer, rows [][]string) error {
	var b bytes.Buffer
	for i, row := range rows {
		for k, cell := range row {
			if k == 0 {
				cell = strings.Replace(cell, "  ", "… ", 1)
			}
			fmt.Fprintf(&b, "| %s ", MarkdownCell(cell))
		}
		fmt.Fprintln(&b, "|")
		if i == 0 {
			fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("---:|", len(row)-1))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
