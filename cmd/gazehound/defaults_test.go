package main

import (
	"reflect"
	"slices"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/fetch"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/render"
	"gazehound/geoparse"
	"gazehound/index/api"
	"gazehound/predictor"
	"gazehound/predictor/topic"
)

// Where a package has defaults of its own for what config.yaml configures, they are those of
// config.yaml, field by field, but for the fields that are made from several keys.
func TestDefaultsOfPackages(t *testing.T) {
	cfg := DefaultConfig()
	fetching, err := cfg.FetchOptions("")
	if err != nil {
		t.Fatal(err)
	}
	rendering, err := cfg.RenderOptions("", "")
	if err != nil {
		t.Fatal(err)
	}
	node, err := cfg.ClusterOptions("")
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.NodeOptions(&node, ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		configured, own any
		except          []string
	}{
		{cfg.Revisit, crawler.DefaultSchedule(), nil},
		{fetching, fetch.DefaultOptions(), []string{"UserAgent"}},                            // contact
		{cfg.GateOptions(), polite.DefaultOptions(), []string{"AtOnce"}},                     // workers
		{cfg.RobotsOptions(), robots.DefaultOptions(), []string{"Retry", "Hosts", "Memory"}}, // by delay and memory
		{rendering, render.DefaultOptions(), []string{"UserAgent"}},
		{node, cluster.DefaultOptions(), []string{"Name"}}, // the machine's
		{geoparse.Options{MinPrecision: cfg.Gazetteer.MinPrecision}, geoparse.DefaultOptions(), nil},
		{cfg.ModelOptions(), predictor.DefaultOptions(), nil},
		{cfg.Crawl.Settings.Options, topic.DefaultOptions(), nil},
		{(&app{data: t.TempDir()}).apiOptions(&cfg), api.DefaultOptions(), []string{"Log"}},
	} {
		configured, own := reflect.ValueOf(c.configured), reflect.ValueOf(c.own)
		for i := range own.NumField() {
			name := own.Type().Field(i).Name
			a, b := configured.Field(i), own.Field(i)
			empty := a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0
			if a.Kind() == reflect.Func || empty || slices.Contains(c.except, name) {
				continue
			}
			if !reflect.DeepEqual(a.Interface(), b.Interface()) {
				t.Errorf("%s.%s is %v by config.yaml, %v in its package", own.Type(), name, a, b)
			}
		}
	}
}
