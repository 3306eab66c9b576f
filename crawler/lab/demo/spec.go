package demo

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"gazehound/internal/textutil"
)

// ParseSpec sets flags of f by a text such as "sites=2000,hints=0.4"; "default"
// leaves all as they are.
func ParseSpec(spec string, f *flag.FlagSet) error {
	if spec == "default" {
		return nil
	}
	for part := range strings.SplitSeq(spec, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		if f.Lookup(name) == nil {
			var names []string
			f.VisitAll(func(known *flag.Flag) { names = append(names, known.Name) })
			return errors.New(textutil.NotOneOf(name, names))
		}
		if err := f.Set(name, text); err != nil {
			return fmt.Errorf("%s wants a number, got %q", name, text)
		}
	}
	return nil
}

// ParseOptions reads a made-up town such as "sites=2000,hints=0.4".
func ParseOptions(spec string) (Options, error) {
	o := DefaultOptions()
	f := flag.NewFlagSet("town", flag.ContinueOnError)
	f.IntVar(&o.Sites, "sites", o.Sites, "")
	f.IntVar(&o.PagesPerSite, "pages", o.PagesPerSite, "")
	f.IntVar(&o.Streets, "streets", o.Streets, "")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "")
	f.Float64Var(&o.HintReliability, "hints", o.HintReliability, "")
	f.Float64Var(&o.Locality, "locality", o.Locality, "")
	f.Float64Var(&o.Bridges, "bridges", o.Bridges, "")
	f.IntVar(&o.BridgeLength, "bridge-length", o.BridgeLength, "")
	f.IntVar(&o.FarSeeds, "far-seeds", o.FarSeeds, "")
	f.IntVar(&o.NearSeeds, "near-seeds", o.NearSeeds, "")
	f.BoolVar(&o.Finite, "finite", o.Finite, "")
	f.StringVar(&o.Language, "language", o.Language, "")
	f.Float64Var(&o.Foreign, "foreign", o.Foreign, "")
	f.Float64Var(&o.LanguageLocality, "language-locality", o.LanguageLocality, "")
	if err := ParseSpec(spec, f); err != nil {
		return o, err
	}
	return o, o.Validate()
}
