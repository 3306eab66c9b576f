package geoparse

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"gazehound/gazetteer"

	"golang.org/x/sync/errgroup"
)

// ReadInput reads a text or an HTML page at a URL, which may be "" or invalid.
type ReadInput func(data []byte, html bool, url string) (Input, error)

// maxBatchLine bounds a line of a batch, in bytes.
const maxBatchLine = 32 << 20

// Batch reads one JSON object per line from r, {"id":…, "text":… or "html":…,
// "country":…, "url":…, "title":…, "lang":…}, and writes one per line to w in the same order,
// {"id":…, "addresses":[…]}, with an "error" where a line cannot be read. Lines
// are parsed side by side; an answer is written as soon as those before it are.
// A line's country, title and language replace those that read returns.
func Batch(ctx context.Context, p *Parser, r io.Reader, w io.Writer, read ReadInput) error {
	workers := runtime.GOMAXPROCS(0)
	answers := make(chan chan []byte, 4*workers) // in the order of the lines
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(answers)
		var parsing errgroup.Group
		parsing.SetLimit(workers)
		defer parsing.Wait()
		return eachLine(r, func(number int, text []byte, tooLong bool) error {
			answer := make(chan []byte, 1)
			select {
			case answers <- answer:
			case <-ctx.Done():
				return ctx.Err()
			}
			parsing.Go(func() error {
				answer <- p.answer(ctx, number, text, tooLong, read)
				return nil
			})
			return nil
		})
	})
	g.Go(func() error {
		out := bufio.NewWriterSize(w, 64<<10)
		for answer := range answers {
			out.Write(<-answer)
			if len(answers) == 0 {
				err := out.Flush()
				if err != nil {
					return err
				}
			}
		}
		return out.Flush()
	})
	return g.Wait()
}

// eachLine calls fn for each line that is not empty. A line of more than maxBatchLine bytes is cut
// there.
func eachLine(r io.Reader, fn func(number int, text []byte, tooLong bool) error) error {
	br := bufio.NewReaderSize(r, 1<<20)
	for number := 1; ; number++ {
		text, err := gazetteer.ReadLine(br, maxBatchLine)
		tooLong := err == gazetteer.ErrTooLong
		if err == io.EOF {
			return nil
		}
		if err != nil && !tooLong {
			return fmt.Errorf("geoparse: read line %d: %w", number, err)
		}
		text = bytes.TrimSpace(bytes.Clone(text))
		if len(text) > 0 || tooLong {
			if err := fn(number, text, tooLong); err != nil {
				return err
			}
		}
	}
}

// A question is one line of a batch.
type question struct {
	ID      json.RawMessage `json:"id"`
	Country string          `json:"country"`
	URL     string          `json:"url"`
	Title   string          `json:"title"`
	Lang    string          `json:"lang"`
	Text    *string         `json:"text"`
	HTML    *string         `json:"html"`
}

// input returns what is to be parsed.
func (q *question) input(read ReadInput) (Input, error) {
	data := q.Text
	if data == nil {
		data = q.HTML
	}
	if data == nil {
		return Input{}, errors.New(`neither "text" nor "html"`)
	}
	in, err := read([]byte(*data), q.Text == nil, q.URL)
	in.Country = cmp.Or(q.Country, in.Country)
	in.Title, in.Lang = cmp.Or(q.Title, in.Title), cmp.Or(strings.ToLower(q.Lang), in.Lang)
	return in, err
}

// answer returns the line of output for a line of input.
func (p *Parser) answer(ctx context.Context, number int, text []byte, tooLong bool, read ReadInput) []byte {
	out := struct {
		ID        json.RawMessage `json:"id"`
		Addresses []Record        `json:"addresses"`
		Error     string          `json:"error,omitempty"`
	}{ID: json.RawMessage("null"), Addresses: []Record{}}
	var q question
	err := fmt.Errorf("longer than %d MB", maxBatchLine>>20)
	if !tooLong {
		err = badJSON(json.Unmarshal(text, &q))
	}
	if len(q.ID) > 0 {
		out.ID = q.ID
	}
	var in Input
	if err == nil {
		in, err = q.input(read)
	}
	if err == nil {
		var v Verdict
		v, err = p.Parse(ctx, in)
		for _, x := range v.Addresses {
			out.Addresses = append(out.Addresses, NewRecord(x))
		}
	}
	if err != nil {
		out.Error = fmt.Sprintf("line %d: %v", number, err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(out)
	if err != nil {
		b.Reset()
		fmt.Fprintf(&b, "{\"id\":null,\"addresses\":[],\"error\":\"line %d: cannot be answered\"}\n", number)
	}
	return b.Bytes()
}

// badJSON says in plain words why a line cannot be read.
func badJSON(err error) error {
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return fmt.Errorf("%q must be a string, not a %s", mistyped.Field, mistyped.Value)
	case errors.As(err, &mistyped):
		return fmt.Errorf("not a JSON object but a %s", mistyped.Value)
	}
	return fmt.Errorf("not a JSON object: %w", err)
}
