package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gazehound/internal/textutil"

	"github.com/spf13/pflag"
)

// A restricted value of a flag accepts less than its type does.
type restricted struct {
	pflag.Value
	check func(text string) error
}

// A refusedError says why a flag does not accept its value.
type refusedError struct{ error }

// Set sets the value, and fails if it is not allowed.
func (r restricted) Set(text string) error {
	err := r.Value.Set(text)
	if err != nil {
		return err
	}
	if err := r.check(text); err != nil {
		return &refusedError{err}
	}
	return nil
}

func restrict(f *pflag.FlagSet, name string, check func(text string) error) {
	flag := f.Lookup(name)
	flag.Value = restricted{flag.Value, check}
}

// oneOf makes a flag accept these values only, or several of them if it is a list.
func oneOf(f *pflag.FlagSet, name string, allowed []string) {
	_, list := f.Lookup(name).Value.(pflag.SliceValue)
	restrict(f, name, func(text string) error {
		given := []string{text}
		if list {
			given = strings.Split(text, ",")
		}
		for _, one := range given {
			if err := checkOneOf(name, one, allowed); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkOneOf returns an error if the value of a flag is not allowed.
func checkOneOf(name, given string, allowed []string) error {
	if slices.Contains(allowed, given) {
		return nil
	}
	return fail(badUsage, "--%s: %s", name, textutil.NotOneOf(given, allowed))
}

// between makes a flag accept numbers from low to high only.
func between(f *pflag.FlagSet, name string, low, high float64) {
	restrict(f, name, func(text string) error {
		if x, err := strconv.ParseFloat(text, 64); err != nil || !(x >= low && x <= high) {
			return fmt.Errorf("--%s must be %.0f to %.0f, got %s", name, low, high, text)
		}
		return nil
	})
}

// needed is the annotation of a flag with those of which one must be given with it.
const needed = "needed"

// needs makes a flag refuse to be given without one of others.
func needs(f *pflag.FlagSet, name string, others ...string) {
	err := f.SetAnnotation(name, needed, others)
	if err != nil {
		panic(err) // there is no such flag
	}
}

// checkNeeds returns an error if a flag was given without those that it needs.
func checkNeeds(f *pflag.FlagSet) (err error) {
	f.Visit(func(flag *pflag.Flag) {
		others := flag.Annotations[needed]
		if err == nil && len(others) > 0 && !slices.ContainsFunc(others, f.Changed) {
			err = fail(badUsage, "--%s belongs to --%s", flag.Name, strings.Join(others, " or --"))
		}
	})
	return err
}
