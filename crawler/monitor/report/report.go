// Package report computes what a crawl achieved from what it fetched.
package report
