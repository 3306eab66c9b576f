package main

import (
	"context"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/index"
)

// A publisher brings the pages that the index of a node has not sent into the stream of its crawl.
type publisher struct {
	a     *app
	index *index.Index
	node  *cluster.Node
	fails bool // the last attempt has failed, and that was said

	looked time.Time // when the stream was looked at last
}

const (
	publishPages = 500                    // states at a time
	publishEvery = 250 * time.Millisecond // time between two looks for changed pages
	publishIdle  = 5 * time.Second        // time between two looks at the stream while none has changed
	publishAgain = time.Second            // after an error
	publishLast  = 30 * time.Second       // bound of the time at the end of a node
)

// run publishes pages until ctx ends.
func (p *publisher) run(ctx context.Context) error {
	for ctx.Err() == nil {
		n, err := p.some(ctx)
		pause := publishEvery
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !p.fails {
				p.a.warn("pages wait in the index until they can be published: %s", oneLine(err.Error()))
			}
			pause = publishAgain
		case p.fails:
			p.a.say("pages are published again")
		}
		p.fails = err != nil
		if n < publishPages {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
	return nil
}

// some publishes some pages, which are marked as sent once they are durable in the stream.
func (p *publisher) some(ctx context.Context) (n int, err error) {
	n, err = p.index.CountUnsent()
	if err != nil || n == 0 && time.Since(p.looked) < publishIdle {
		return 0, err
	}
	stream, err := p.node.PagesStream(ctx)
	if err == nil {
		p.looked = time.Now()
		err = p.index.Send(ctx, stream)
	}
	if err != nil {
		return 0, err
	}
	states, err := p.index.Unsent(ctx, publishPages)
	if err != nil || len(states) == 0 {
		return 0, err
	}
	messages := make([]cluster.PageState, len(states))
	for i, s := range states {
		messages[i] = cluster.PageState(s)
	}
	if err := p.node.PublishPages(ctx, p.index.ID(), messages); err != nil {
		return 0, err
	}
	return len(states), p.index.Sent(ctx, states)
}

// finish publishes what is left when the crawl has ended.
func (p *publisher) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), publishLast)
	defer cancel()
	for {
		n, err := p.some(ctx)
		if n < publishPages && err == nil {
			return
		}
		if err != nil {
			left, _ := p.index.CountUnsent()
			p.a.warn("%s could not be published and will be when this node runs again: %s", several(left, "page"),
				oneLine(err.Error()))
			return
		}
	}
}
