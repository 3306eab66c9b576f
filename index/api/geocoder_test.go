package api

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The map widget that most pages use for Photon works with our server
// unchanged.
func TestLeafletGeocoder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("installs a package of npm")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: the Photon class of leaflet-control-geocoder is not tried", tool)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dir := t.TempDir()
	install := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "leaflet@1.9.4", "leaflet-control-geocoder@3.3.1")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install leaflet-control-geocoder: %v\n%s", err, out)
	}
	server := httptest.NewServer(Handler(town(t, 0), options()))
	defer server.Close()
	out, err := exec.CommandContext(ctx, "node", "testdata/geocoder.cjs", filepath.Join(dir, "node_modules"), server.URL+"/", "tischlerei").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type place struct {
		Name     string
		Lat, Lng float64
		Valid    bool
	}
	var got struct{ Found, Near, Suggested []place }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(got.Found) != 2 || got.Found[0].Name != "Tischlerei Harms, Nadorster Straße 12a, Oldenburg, Deutschland" && got.Found[1].Name != "Tischlerei Harms, Nadorster Straße 12a, Oldenburg, Deutschland" || !got.Found[0].Valid {
		t.Errorf("geocode: %+v", got.Found)
	}
	if len(got.Near) != 1 || got.Near[0].Name != "Bäckerei Müller, Lange Straße 5, Oldenburg, Deutschland" || got.Near[0].Lat != 53.14 || got.Near[0].Lng != 8.214 {
		t.Errorf("reverse: %+v", got.Near)
	}
	if len(got.Suggested) != 2 {
		t.Errorf("suggest: %+v", got.Suggested)
	}
}
