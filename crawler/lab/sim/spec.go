package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/order"
	"gazehound/internal/textutil"
)

// ParseCities reads a made-up web of cities such as "sites=20000,seed=2".
func ParseCities(spec string) (CitiesOptions, error) {
	o := DefaultCitiesOptions()
	return o, demo.Parse(spec, &o)
}

// ParseReaders reads the readers of a made-up web such as "logs=0.3,bias=4".
func ParseReaders(spec string) (ReaderOptions, error) {
	o := DefaultReaderOptions()
	return o, demo.Parse(spec, &o)
}

// ParseStrategies expands what a user names, each once: "all" stands for all, and
// a strategy with variants comes once for each of limits.
func ParseStrategies(names, all []string, limits []int) (list []string, err error) {
	var wanted []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "all" {
			wanted = append(wanted, all...)
		} else {
			wanted = append(wanted, name)
		}
	}
	for _, name := range wanted {
		kind, _, known := order.Find(name, order.Settings{})
		found := []string{name}
		switch {
		case known && kind.Variant != nil && name == kind.Name:
			found = nil
			for _, limit := range limits {
				found = append(found, fmt.Sprintf("%s-%d", name, limit))
			}
		case !known && name != OracleName:
			return nil, errors.New(textutil.NotOneOf(name, append([]string{"all", OracleName}, order.Names()...)))
		}
		for _, name := range found {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("it names none. Known are all, %s", strings.Join(order.Names(), ", "))
	}
	return list, nil
}

// ParsePartitions reads names of partitions, or "all", and of policies.
func ParsePartitions(partitions, policies []string) (methods []partition.Method, chosen []partition.Policy, err error) {
	for _, name := range partitions {
		m := partition.Method(strings.TrimSpace(name))
		switch {
		case m == "all":
			methods = append(methods, partition.Methods()...)
		case slices.Contains(partition.Methods(), m):
			methods = append(methods, m)
		default:
			known := []string{"all"}
			for _, m := range partition.Methods() {
				known = append(known, string(m))
			}
			return nil, nil, fmt.Errorf("--partition: %s", textutil.NotOneOf(name, known))
		}
	}
	for _, name := range policies {
		p := partition.Policy(strings.ToUpper(strings.TrimSpace(name)))
		if p != partition.PolicyA && p != partition.PolicyB {
			return nil, nil, fmt.Errorf("--policy: %q is neither A nor B", name)
		}
		chosen = append(chosen, p)
	}
	if len(methods) == 0 || len(chosen) == 0 {
		return nil, nil, fmt.Errorf("--partition and --policy must have a name each")
	}
	return methods, chosen, nil
}
