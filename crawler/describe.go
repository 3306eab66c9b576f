package crawler

import (
	"errors"
	"fmt"

	"gazehound/crawler/frontier"
	"gazehound/gazetteer"
)

// ErrOtherRegion is wrapped by the error for a crawl of another region, language or topic.
var ErrOtherRegion = errors.New("this crawl is about")

// regionMeta names what a crawl tree says of its region.
const regionMeta = "region"

// Describe stores in the crawl tree what the crawl is about. It fails with ErrOtherRegion if
// something else is stored there.
func Describe(f *frontier.Frontier, region *gazetteer.Region) error {
	was, err := f.Meta(regionMeta)
	if err != nil {
		return err
	}
	b := region.Bound()
	is := fmt.Sprintf("%s (%.4f,%.4f … %.4f,%.4f)", region.Name, b.Min.Lon(), b.Min.Lat(), b.Max.Lon(), b.Max.Lat())
	if was == nil {
		return f.PutMeta(regionMeta, []byte(is))
	}
	if string(was) != is {
		return fmt.Errorf("%w %s, not %s", ErrOtherRegion, was, is)
	}
	return nil
}

// Note stores texts in the crawl tree under their names, such as the grounds for departing from the
// default policy.
func Note(f *frontier.Frontier, texts map[string]string) error {
	for name, text := range texts {
		err := f.PutMeta(name, []byte(text))
		if err != nil {
			return err
		}
	}
	return nil
}
