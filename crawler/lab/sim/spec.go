package sim

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/lab/demo"
	"gazehound/internal/textutil"
)

// ParseCities reads a made-up web of cities such as "sites=20000,seed=2".
func ParseCities(spec string) (CitiesOptions, error) {
	o := DefaultCitiesOptions()
	f := flag.NewFlagSet("cities", flag.ContinueOnError)
	f.IntVar(&o.Sites, "sites", o.Sites, "")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "")
	return o, demo.ParseSpec(spec, f)
}

// ParseReaders reads the readers of a made-up web such as "logs=0.3,bias=4".
func ParseReaders(spec string) (ReaderOptions, error) {
	o := DefaultReaderOptions()
	f := flag.NewFlagSet("readers", flag.ContinueOnError)
	f.Float64Var(&o.Visits, "visits", o.Visits, "")
	f.Float64Var(&o.Logs, "logs", o.Logs, "")
	f.Float64Var(&o.Unlinked, "unlinked", o.Unlinked, "")
	f.Float64Var(&o.Bias, "bias", o.Bias, "")
	f.Float64Var(&o.Important, "important", o.Important, "")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "")
	if err := demo.ParseSpec(spec, f); err != nil {
		return o, err
	}
	return o, o.Validate()
}

// A StrategyName is one strategy to compare, as a user names it.
type StrategyName struct {
	Name        string // in tables
	Kind        string // what package order calls it; or an oracle
	Limit       int    // of limited-distance
	Prioritised bool
}

var limitedForm = regexp.MustCompile(`^limited-distance-([0-9]{1,3})(-prioritised)?$`)

// ParseStrategies expands what a user names, each once: "all" stands for all,
// limited-distance comes once for each of limits, and limited-distance-N and
// limited-distance-N-prioritised are names, too. known are the strategies that
// there are beside the oracles.
func ParseStrategies(names, all, known []string, limits []int) ([]StrategyName, error) {
	var list []StrategyName
	add := func(s StrategyName) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		m := limitedForm.FindStringSubmatch(name)
		switch {
		case name == "all":
			more, err := ParseStrategies(all, nil, known, limits)
			if err != nil {
				return nil, err
			}
			for _, s := range more {
				add(s)
			}
		case m != nil:
			limit, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, err
			}
			add(StrategyName{name, "limited-distance", limit, m[2] != ""})
		case name == "limited-distance":
			for _, limit := range limits {
				add(StrategyName{fmt.Sprintf("limited-distance-%d", limit), name, limit, false})
			}
		case slices.Contains(known, name), isOracle(name):
			add(StrategyName{Name: name, Kind: name})
		default:
			every := append([]string{"all", NextOracleName, GraphOracleName}, known...)
			return nil, fmt.Errorf("%s", textutil.NotOneOf(name, every))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("it names none. Known are all, %s", strings.Join(known, ", "))
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
		return nil, nil, fmt.Errorf("--partition and --policy want a name each")
	}
	return methods, chosen, nil
}
