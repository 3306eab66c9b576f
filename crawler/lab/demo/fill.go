package demo

import (
	"bytes"
	"strings"
)

// fill brings a page to size bytes with paragraphs and lists about nothing,
// as full of markup as pages of the web are: about one element for each 60
// bytes. They name no place and link to nothing.
func (c *canvas) fill(size int) {
	lack := size - len(c.buf)
	end := bytes.LastIndex(c.buf, []byte("</body>"))
	if lack <= 0 || end < 0 {
		return
	}
	tail := string(c.buf[end:])
	c.buf = append(c.buf[:end], "<div class=\"mehr\">\n"...)
	for n := len(c.buf); len(c.buf)-n < lack-30; {
		block := fillers[c.w.n(len(fillers))]
		if c.foreign {
			block = "<p>" + c.t.tongue.translate(pick(&c.w, sentences)) + "</p>\n"
		}
		c.buf = append(c.buf, block...)
	}
	c.buf = append(c.buf, "</div>\n"...)
	c.buf = append(c.buf, tail...)
}

// fillers are the blocks that pages are filled with.
var fillers = func() (blocks []string) {
	words := strings.Fields(`aber alle auch bald besonders bunt dabei danach dann darum draußen einfach eigentlich endlich etwas fast fein
		früher ganz gemeinsam gerade gern gestern groß gut heute hier immer jeder jetzt kaum klein kurz lange leise manchmal mehr mitten
		morgen neu nie noch nur oft plötzlich ruhig schnell schon schön sehr selten sicher sofort sogar sonst spät still trotzdem
		überall ungefähr viel vielleicht vorher wenig wieder wirklich wohl ziemlich zuletzt zusammen`)
	next := uint32(1)
	word := func() string {
		next = next*1664525 + 1013904223
		return words[next>>16%uint32(len(words))]
	}
	sentence := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = word()
		}
		return strings.Join(all, " ") + "."
	}
	for range 64 {
		var b strings.Builder
		b.WriteString("<section class=\"block\"><h3>" + word() + " " + word() + "</h3>\n<p>" + sentence(9) + " <em>" + word() + "</em> " + sentence(7) +
			" <b>" + word() + "</b> " + sentence(8) + "</p>\n<ul>")
		for range 4 {
			b.WriteString("<li><span>" + word() + "</span> " + word() + " " + word() + "</li>")
		}
		b.WriteString("</ul></section>\n")
		blocks = append(blocks, b.String())
	}
	return blocks
}()
