package partition

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// ErrNoCities is returned for a MaxMind DB file that does not say in which
// city an address lies.
var ErrNoCities = errors.New("the file has no cities")

// A MaxMind locates IP addresses by a MaxMind DB file such as GeoLite2-City. It is safe for
// concurrent use.
type MaxMind struct{ reader *maxminddb.Reader }

// OpenMaxMind opens a file. The error is ErrNoCities for a file without cities; others say why it
// is not a MaxMind DB file.
func OpenMaxMind(file string) (*MaxMind, error) {
	r, err := maxminddb.Open(file)
	if err != nil {
		return nil, fmt.Errorf("partition: %s is not a MaxMind DB file: %w", file, err)
	}
	if kind := r.Metadata.DatabaseType; !strings.Contains(kind, "City") && !strings.Contains(kind, "Enterprise") {
		err := fmt.Errorf("partition: %s is of the type %.40q; take one such as GeoLite2-City: %w", file,
			kind, ErrNoCities)
		return nil, errors.Join(err, r.Close())
	}
	return &MaxMind{r}, nil
}

// Locate returns the English name of the city where an address lies and the
// code of its state; false where the file does not say it. It is for
// Options.Locate.
func (m *MaxMind) Locate(a netip.Addr) (city, state string, ok bool) {
	var record struct {
		City struct {
			Names struct {
				English string `maxminddb:"en"`
			} `maxminddb:"names"`
		} `maxminddb:"city"`
		Subdivisions []struct {
			Code string `maxminddb:"iso_code"`
		} `maxminddb:"subdivisions"`
	}
	if !a.IsValid() || m.reader.Lookup(a.Unmap()).Decode(&record) != nil || record.City.Names.English == "" {
		return "", "", false // unknown, or damaged there
	}
	if len(record.Subdivisions) > 0 {
		state = record.Subdivisions[0].Code
	}
	return record.City.Names.English, state, true
}

// Close closes the file.
func (m *MaxMind) Close() error { return m.reader.Close() }

// Lowest returns one of a host's addresses, the same whatever their order: so that nodes with
// separate look-ups agree on it.
func Lowest(addrs []netip.Addr) (netip.Addr, bool) {
	if len(addrs) == 0 {
		return netip.Addr{}, false
	}
	return slices.MinFunc(addrs, func(a, b netip.Addr) int {
		return cmp.Or(cmp.Compare(a.Unmap().BitLen(), b.Unmap().BitLen()), a.Unmap().Compare(b.Unmap()))
	}), true
}
