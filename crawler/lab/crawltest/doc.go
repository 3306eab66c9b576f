// Package crawltest is the web that the crawler's tests run on, all of it on loopback: [Hostile] is
// a server of bad answers, [Web] a made-up web written in a txtar file, which keeps a ledger of all
// requests. [Fixture] finds files that several packages read; [ReadGzip] is shared by several
// tests.
package crawltest
