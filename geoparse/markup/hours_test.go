package markup

import "testing"

// Times of a clock on the wall are read without the time zone behind them.
func TestOpeningHoursTimeZone(t *testing.T) {
	for opens, closes := range map[string]string{"09:00:00+01:00": "18:00:00+01:00", "09:00": "18:00Z", "09:00-0500": "18:00"} {
		spec := map[string]any{"dayOfWeek": "Monday", "opens": opens, "closes": closes}
		got := openingHours(map[string]any{"openingHoursSpecification": []any{spec}})
		if got != "Monday 09:00-18:00" && got != "Monday 09:00:00-18:00:00" {
			t.Errorf("%s to %s: %q", opens, closes, got)
		}
	}
}
