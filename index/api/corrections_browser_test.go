package api

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/internal/corrections"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// isAccessible checks that each control has a name, that nothing is wider than the screen and no button
// too small; and with axe-core where GAZEHOUND_AXE names its axe.min.js.
func isAccessible(t *testing.T, ctx context.Context, what string, least int) {
	t.Helper()
	tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(v *accessibility.Value) (s string) {
		if v != nil {
			json.Unmarshal(v.Value, &s)
		}
		return strings.TrimSpace(s)
	}
	controls := 0
	for _, n := range tree.Nodes {
		if n.Ignored || !slices.Contains([]string{"button", "textbox", "link", "group", "searchbox"}, text(n.Role)) {
			continue
		}
		if controls++; text(n.Name) == "" && text(n.Role) != "group" {
			t.Errorf("%s: a %s without a name", what, text(n.Role))
		}
	}
	if controls < least {
		t.Errorf("%s: only %d controls", what, controls)
	}
	if over := read(t, ctx, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - document.documentElement.clientWidth`)); over > 0 {
		t.Errorf("%s: %v pixels wider than the screen", what, over)
	}
	small := read(t, ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll("button, input")].filter(e => e.offsetParent && (e.closest("label") || e).getBoundingClientRect().height < 24).map(e => e.outerHTML.slice(0, 80))`))
	if len(small) > 0 {
		t.Errorf("%s: too small for a finger: %q", what, small)
	}
	name := os.Getenv("GAZEHOUND_AXE")
	if name == "" {
		return
	}
	axe, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](string(axe)))
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run().then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" | ")))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	for _, violation := range found {
		t.Errorf("%s: axe: %.600s", what, violation)
	}
}

// The operator corrects with the keyboard alone, on a laptop and on a telephone, and takes it back; a
// visitor suggests.
func TestBrowserCorrect(t *testing.T) {
	t.Parallel()
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	c := correcting(t, 40)
	server := httptest.NewServer(c)
	defer server.Close()
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			do(t, ctx, chromedp.KeyEvent(k))
		}
	}
	until := func(what, condition string) {
		t.Helper()
		for range 200 {
			if read(t, ctx, chromedp.Evaluate[bool](condition)) {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("never: %s; %s", what, read(t, ctx, chromedp.Text("main")))
	}
	facts := func(id string, want ...string) {
		t.Helper()
		var got []string
		for _, e := range c.o.Corrections.Log.Facts(id) {
			got = append(got, strings.TrimSpace(string(e.What)+" "+e.Value))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}

	// A visitor.
	id := c.idOf(t, "tischlerei")
	do(t, ctx, chromedp.Navigate(server.URL+"/?q=tischlerei&lang=en"), chromedp.WaitVisible("#r1 .correct button"))
	isAccessible(t, ctx, "a visitor's card", 5)
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector("#r1 .correct button").focus()`))
	press(kb.Enter)
	until("the panel", `!!document.querySelector("#r1 .panel button")`)
	if n := read(t, ctx, chromedp.Evaluate[float64](`[...document.querySelectorAll("#r1 .panel button")].filter(b => b.textContent == "Right as it is").length`)); n != 0 {
		t.Error("a visitor confirms")
	}
	press(kb.Enter) // closed for good has the focus
	until("thanks", `/Thank you/.test(document.querySelector("#r1 .said").textContent)`)
	if s := c.o.Corrections.Suggestions.Facts(id); len(s) != 1 || s[0].What != corrections.Gone || s[0].Who != corrections.Visitor {
		t.Errorf("suggested: %+v", s)
	}
	facts(id)

	// The operator: token, queue, first card is what was suggested.
	do(t, ctx, chromedp.Navigate(server.URL+"/corrections?lang=en"), chromedp.WaitVisible("#correct-token"))
	isAccessible(t, ctx, "the login", 3)
	do(t, ctx, chromedp.SendKeys("#correct-token", "wrong"+kb.Enter))
	until("a refusal", `/token is missing or wrong/.test(document.getElementById("queue-status").textContent)`)
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.getElementById("correct-token").value = ""`), chromedp.SendKeys("#correct-token", operatorToken+kb.Enter))
	until("the queue", `!!document.querySelector("#queue .panel button")`)
	isAccessible(t, ctx, "the queue", 50)
	shoot(t, ctx, "corrections")
	if got := read(t, ctx, chromedp.Text("#queue > li:first-child")); !strings.Contains(got, "A visitor suggests: not here any more: closed for good") {
		t.Errorf("first: %s", got)
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector("#queue .panel button").focus()`))
	press(kb.Enter) // right as it is
	until("saved", `/Saved: right as it is/.test(document.querySelector("#queue .said").textContent)`)
	facts(id, "confirm")
	if on := read(t, ctx, chromedp.Evaluate[bool](`document.activeElement == document.querySelector("#queue > li:nth-child(2) h2")`)); !on {
		t.Error("the next card has not the focus")
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector("#queue .panel .facts button").focus()`))
	press(kb.Enter)
	until("undone", `/Taken back/.test(document.querySelector("#queue .said").textContent)`)
	facts(id)

	// On the telephone, on a card of the search: a name with markup in it.
	do(t, ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(server.URL+"/corrections?lang=de"), chromedp.WaitVisible("#queue .panel button"))
	isAccessible(t, ctx, "the queue on a telephone", 50)
	shoot(t, ctx, "corrections-phone")
	do(t, ctx, chromedp.Navigate(server.URL+"/?q=tischlerei&lang=de"), chromedp.WaitVisible("#r1 .correct button"),
		chromedp.Click("#r1 .correct button"), chromedp.WaitVisible("#r1 .panel button"),
		chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#r1 .panel button")].find(b => b.textContent == "Umbenennen").click()`),
		chromedp.WaitVisible("#r1 .entry input"))
	isAccessible(t, ctx, "a card on a telephone", 10)
	shoot(t, ctx, "correct-phone")
	press("<img src=x onerror=document.title='broken'>")
	press(kb.Enter)
	until("saved", `/Gespeichert/.test(document.querySelector("#r1 .said").textContent)`)
	facts(id, "name <img src=x onerror=document.title='broken'>")
	do(t, ctx, chromedp.Navigate(server.URL+"/corrections?lang=de"), chromedp.WaitVisible("#latest button"), chromedp.Navigate(server.URL+"/addresses/"+id+"?lang=de"), chromedp.WaitVisible(".badge.person"))
	if got := read(t, ctx, chromedp.Evaluate[string](`document.querySelector("h2").textContent + document.title`)); !strings.Contains(got, "<img src=x") || strings.HasPrefix(got, "broken") {
		t.Errorf("heading %q", got)
	}
}
