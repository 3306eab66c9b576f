package monitor

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/internal/disk"

	"golang.org/x/net/netutil"
)

// A Listener is the admin listener of a running crawl. A file beside the crawl, readable by its
// owner only, has its address for "gazehound ctl".
type Listener struct {
	Address
	listener net.Listener // nil: it is shared
	file     string
	open     bool // beyond this machine: everything requires the token
	given    bool // the token is the operator's
}

// An Address is what that file holds.
type Address struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	Owner string `json:"owner"` // the token for command lines, which is in the file alone
	PID   int    `json:"pid"`
}

// ErrNoToken means that an address beyond this machine would be open to everybody.
var ErrNoToken = errors.New("would let anyone stop the crawl")

// leastToken is the shortest token that is accepted, in bytes.
const leastToken = 16

// ReadToken returns the content of a token file, or "" if name is empty.
func ReadToken(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s must hold one word of at least %d characters. \"openssl rand -hex 20\" makes one",
			name, leastToken)
	}
	return token, nil
}

// Listen takes an address, host:port, and writes the file. Without a token it
// makes one, which an address beyond this machine refuses. Where anyPort is set
// and the port is taken, it takes another one.
func Listen(address, token, file string, anyPort bool) (*Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	l := &Listener{file: file, open: !weburl.IsLoopback(host), given: token != ""}
	if l.open && !l.given {
		return nil, ErrNoToken
	}
	l.Token = token
	if !l.given {
		l.Token = rand.Text()
	}
	l.Owner = rand.Text()
	l.listener, err = net.Listen("tcp", address)
	if err != nil && anyPort {
		l.listener, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, err
	}
	at := l.listener.Addr().(*net.TCPAddr)
	l.URL, l.PID = "http://"+at.String()+"/", os.Getpid()
	if at.IP.IsUnspecified() {
		l.URL = fmt.Sprintf("http://localhost:%d/", at.Port)
	}
	err = l.announce()
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Share is Listen for an admin listener below the URL of a server that the caller runs, with a token
// that everything requires.
func Share(url, token, file string) (*Listener, error) {
	l := &Listener{file: file, open: true, given: true}
	l.Address = Address{URL: url, Token: cmp.Or(token, rand.Text()), Owner: rand.Text(), PID: os.Getpid()}
	return l, l.announce()
}

// announce writes the file.
func (l *Listener) announce() error {
	data, _ := json.Marshal(l.Address) // texts and a number
	err := disk.ReplaceBytes(l.file, 0o600, data)
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// ReadAddress reads the file that a Listener wrote.
func ReadAddress(file string) (a Address, err error) {
	f, err := os.Open(file)
	if err != nil {
		return a, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	return a, err
}

// IsOpen reports whether the address can be reached beyond this machine.
func (l *Listener) IsOpen() bool { return l.open }

// Port returns the port that was taken.
func (l *Listener) Port() uint16 { return uint16(l.listener.Addr().(*net.TCPAddr).Port) }

// Close closes the listener. A nil Listener does nothing.
func (l *Listener) Close() {
	if l == nil {
		return
	}
	if l.listener != nil {
		l.listener.Close()
	}
	os.Remove(l.file)
}

// Admin returns the Admin of o for this address.
func (l *Listener) Admin(o Options) *Admin {
	o.Token, o.Owner, o.Closed, o.Hand, o.Loopback = l.Token, l.Owner, l.open, !l.given, !l.open
	return NewAdmin(o)
}

// maxAdminConnections bounds the connections of a Listener.
const maxAdminConnections = 128

// Serve answers until ctx ends.
func (l *Listener) Serve(ctx context.Context, a *Admin) error {
	defer context.AfterFunc(ctx, a.Close)()
	return ServeHTTP(ctx, netutil.LimitListener(l.listener, maxAdminConnections), a, 30*time.Second)
}

// maxHeaderBytes bounds the header of a request.
const maxHeaderBytes = 32 << 10

// ServeHTTP answers on l until ctx ends, and then lets running answers, which
// take at most longest, finish for a few seconds. It closes l.
func ServeHTTP(ctx context.Context, l net.Listener, h http.Handler, longest time.Duration) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 2*longest + 10*time.Second,
		IdleTimeout:  time.Minute, MaxHeaderBytes: maxHeaderBytes, ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		server.Close()
	}
	<-ended
	return nil
}
