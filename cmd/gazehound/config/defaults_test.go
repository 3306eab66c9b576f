package config

import (
	"reflect"
	"slices"
	"testing"

	"gazehound/crawler/fetch"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/render"
)

// The defaults of packages that crawl are those of config.yaml, field by field, but for the fields that
// are made from several keys.
func TestDefaultsOfPackages(t *testing.T) {
	o := All().Defaults()
	fetching, err := o.FetchOptions("")
	if err != nil {
		t.Fatal(err)
	}
	rendering, err := o.RenderOptions("", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		configured, own any
		except          []string
	}{
		{fetching, fetch.DefaultOptions(), []string{"UserAgent"}},                          // with version and contact
		{o.GateOptions(), polite.DefaultOptions(), []string{"AtOnce"}},                     // the workers of the crawl
		{o.RobotsOptions(), robots.DefaultOptions(), []string{"Retry", "Hosts", "Memory"}}, // by delay and memory
		{rendering, render.DefaultOptions(), []string{"UserAgent"}},
	} {
		configured, own := reflect.ValueOf(c.configured), reflect.ValueOf(c.own)
		for i := range own.NumField() {
			name := own.Type().Field(i).Name
			a, b := configured.Field(i), own.Field(i)
			if a.Kind() == reflect.Func || slices.Contains(c.except, name) {
				continue
			}
			if !reflect.DeepEqual(a.Interface(), b.Interface()) {
				t.Errorf("%s.%s is %v by config.yaml, %v in its package", own.Type(), name, a, b)
			}
		}
	}
}
