package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// A RefusedError is the answer of a crawl that refuses a request.
type RefusedError struct {
	Status      string `json:"-"` // such as "403 Forbidden"
	Title, Hint string // of its problem
}

func (e *RefusedError) Error() string {
	text := e.Title
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return fmt.Sprintf("the crawl refuses (%s): %.400s", e.Status, text)
}

const (
	askTimeout = time.Minute
	maxAnswer  = 16 << 20 // bytes
)

// Ask sends a request to the Listener at a, such as POST v1/crawl/pause, with a body for JSON or nil,
// and reads the answer into v. Another answer than 200 is a *RefusedError.
func (a Address) Ask(ctx context.Context, method, path string, body, v any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	response, err := a.Open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Close()
	data, err := io.ReadAll(io.LimitReader(response, maxAnswer))
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("what the crawl answers cannot be read: %w", err)
	}
	return nil
}

// Open is Ask for an answer that the caller reads, and closes.
func (a Address) Open(ctx context.Context, method, path string, body any) (io.ReadCloser, error) {
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.URL+path, sent)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.Token)
	request.Header.Set(controlHeader, "1")
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the crawl does not answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		refused := &RefusedError{Status: response.Status}
		// a body that is not a problem leaves it empty
		json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(refused)
		return nil, refused
	}
	return response.Body, nil
}
