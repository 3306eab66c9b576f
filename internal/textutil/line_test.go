package textutil

import "testing"

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"Lange Straße 5": "Lange Straße 5", "שלום عليكم": "שלום عليكم", "a\tb": "a\tb", "a\nb\r": "a b ", "\x1b[31mred": " [31mred", "a\u202egpj.exe": "a gpj.exe",
		"a\u2066b\u2069\u200f\u061c": "a b   ", "a\u0085b\u2028c": "a b c",
	} {
		if got := OneLine(in); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
}
