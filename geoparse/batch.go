package geoparse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"runtime"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/markup"

	"golang.org/x/sync/errgroup"
)

// maxBatchLine bounds a line of a batch, in bytes.
const maxBatchLine = 32 << 20

// Batch reads one JSON object per line from r, {"id":…, "text":… or "html":…,
// "country":…, "url":…}, and writes one per line to w in the same order,
// {"id":…, "addresses":[…]}, with an "error" where a line cannot be read. Lines
// are parsed side by side; an answer is written as soon as those before it are.
// hostOf returns the host of a URL, or "".
func Batch(ctx context.Context, p *Parser, r io.Reader, w io.Writer, hostOf func(string) string) error {
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
				answer <- p.answer(ctx, number, text, tooLong, hostOf)
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
				if err := out.Flush(); err != nil {
					return err
				}
			}
		}
		return out.Flush()
	})
	return g.Wait()
}

// eachLine calls fn for each line that is not empty. Of one of more than
// maxBatchLine bytes it gets the beginning.
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
		if text = bytes.TrimSpace(bytes.Clone(text)); len(text) > 0 || tooLong {
			if err := fn(number, text, tooLong); err != nil {
				return err
			}
		}
	}
}

// A question is one line of a batch.
type question struct {
	ID      json.RawMessage `json:"id"`
	Country *string         `json:"country"`
	URL     *string         `json:"url"`
	Text    *string         `json:"text"`
	HTML    *string         `json:"html"`
}

// input returns what is to be parsed.
func (q *question) input(hostOf func(string) string) (in Input) {
	if q.Country != nil {
		in.Country = strings.ToUpper(*q.Country)
	}
	if q.URL != nil {
		in.Host = hostOf(*q.URL)
		if u, err := url.Parse(*q.URL); err == nil {
			in.Path = u.EscapedPath()
		}
	}
	if q.Text != nil {
		in.Text = *q.Text
	} else {
		in.Doc = markup.Parse([]byte(*q.HTML))
		in.Text = markup.Text(in.Doc)
	}
	return in
}

// answer returns the line of output for a line of input.
func (p *Parser) answer(ctx context.Context, number int, text []byte, tooLong bool, hostOf func(string) string) []byte {
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
	if err == nil && q.Text == nil && q.HTML == nil {
		err = errors.New(`neither "text" nor "html"`)
	}
	if err == nil {
		var v Verdict
		v, err = p.Parse(ctx, q.input(hostOf))
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
	if err := enc.Encode(out); err != nil {
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
