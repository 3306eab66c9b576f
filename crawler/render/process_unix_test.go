//go:build unix

package render

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A browser that does not answer any more is ended, and another one renders the page.
func TestRenderSilent(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	for i := range 2 {
		s := newSite(appScript(fmt.Sprintf(`document.getElementById("root").textContent = "page %d"`, i)))
		b.files.Purge()
		if i > 0 {
			b.answer = 5 * time.Second
			err := chromedp.FromContext(b.tab).Browser.Process().Signal(syscall.SIGSTOP)
			if err != nil {
				t.Skipf("a process cannot be stopped here: %v", err)
			}
		}
		html, err := b.Render(t.Context(), response("https://shop.example/", "text/html", shell), s.fetch)
		if err != nil || !strings.Contains(string(html), fmt.Sprintf("page %d", i)) {
			t.Fatalf("page %d: %s, %v", i, html, err)
		}
	}
}
