package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// ServerOptions configure the JetStream server inside a node.
type ServerOptions struct {
	Name   string   // of the server, unique in the cluster: the node's
	Dir    string   // of streams and keys
	Listen string   // host:port for nodes; empty: only this process
	Peers  string   // host:port for other servers, where there are Routes; empty: the port after Listen's
	Routes []string // nats://host:port of the other servers' peer addresses
	Token  string   // that clients and servers must show; required beyond loopback
	NKeys  []string // public keys of nodes that may connect instead; excludes Token
	TLS    TLSFiles
	// MaxBytes bounds what the streams take on disk.
	MaxBytes int64
}

// TLSFiles are PEM files; all empty: no TLS.
type TLSFiles struct {
	Cert, Key string // of this side
	CA        string // authority of the other side's certificates; empty: the system's
}

// config loads the files for a server.
func (f TLSFiles) config() (*tls.Config, error) {
	if f == (TLSFiles{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.Cert != "" || f.Key != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: %s holds no certificate", f.CA)
		}
		c.ClientCAs, c.ClientAuth = c.RootCAs, tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// ErrOpen means that a server would accept any client.
var ErrOpen = errors.New("a server beyond loopback needs a token or keys")

// options checks o and turns it into the server's own.
func (o ServerOptions) options() (*server.Options, error) {
	s := &server.Options{
		ServerName: o.Name, JetStream: true, StoreDir: o.Dir, JetStreamMaxStore: o.MaxBytes,
		NoSigs: true, NoLog: true, DontListen: o.Listen == "", MaxPayload: 1 << 20, MaxPending: 16 << 20,
		WriteDeadline: 10 * time.Second, Authorization: o.Token,
	}
	if o.Listen != "" {
		var err error
		s.Host, s.Port, err = hostPort(o.Listen)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	for _, k := range o.NKeys {
		s.Nkeys = append(s.Nkeys, &server.NkeyUser{Nkey: k})
	}
	tlsConfig, err := o.TLS.config()
	if err != nil {
		return nil, err
	}
	if tlsConfig != nil {
		if len(tlsConfig.Certificates) == 0 && o.Listen != "" {
			return nil, errors.New("tls: a server needs a certificate and its key")
		}
		s.TLSConfig, s.TLS, s.TLSVerify = tlsConfig, true, tlsConfig.ClientCAs != nil
	}
	secret := o.Token != "" || len(o.NKeys) > 0 || s.TLSVerify
	if o.Listen != "" && !isLoopback(s.Host) && !secret {
		return nil, fmt.Errorf("listen %s: %w", o.Listen, ErrOpen)
	}
	if len(o.Routes) == 0 && o.Peers == "" {
		return s, nil
	}
	peers := o.Peers
	if peers == "" {
		if o.Listen == "" {
			return nil, errors.New("routes: a cluster of servers needs --listen")
		}
		peers = net.JoinHostPort(s.Host, strconv.Itoa(s.Port+1))
	}
	s.Cluster.Name = "gazehound"
	s.Cluster.Host, s.Cluster.Port, err = hostPort(peers)
	if err != nil {
		return nil, fmt.Errorf("peers: %w", err)
	}
	if !isLoopback(s.Cluster.Host) && o.Token == "" && !s.TLSVerify {
		return nil, fmt.Errorf("peers %s: %w", peers, ErrOpen)
	}
	if o.Token != "" {
		s.Cluster.Username, s.Cluster.Password = "gazehound", o.Token
	}
	s.Cluster.TLSConfig = s.TLSConfig
	for _, r := range o.Routes {
		u, err := url.Parse(r)
		if err != nil || u.Scheme != "nats" || u.Port() == "" {
			return nil, fmt.Errorf("routes: %q is not like nats://host:port", r)
		}
		if o.Token != "" {
			u.User = url.UserPassword("gazehound", o.Token)
		}
		s.Routes = append(s.Routes, u)
	}
	return s, nil
}

func hostPort(s string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not like host:port", s)
	}
	port, err = strconv.Atoi(p)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%q has no port of 0 to 65535", s)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if host == "" {
		host = "0.0.0.0"
	}
	return host, port, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// A Server is a JetStream server in this process.
type Server struct {
	s      *server.Server
	routes int // to other servers, as configured
}

// Serve starts a server and waits until it accepts connections; with Routes that is when most of
// the servers are present.
func Serve(o ServerOptions) (*Server, error) {
	opts, err := o.options()
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	for _, address := range []string{o.Listen, net.JoinHostPort(opts.Cluster.Host, strconv.Itoa(opts.Cluster.Port))} {
		if err := isFree(address); err != nil {
			return nil, fmt.Errorf("start server: %w", err)
		}
	}
	started := make(chan struct{})
	go func() { s.Start(); close(started) }() // returns once its stored data is read
	select {
	case <-started:
	case <-time.After(startPatience):
	}
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("start server: %s is not free, or %s cannot be used", o.Listen, o.Dir)
	}
	return &Server{s, len(o.Routes)}, nil
}

// startPatience is how long a server may take to read what it has stored.
const startPatience = 2 * time.Minute

// isFree returns an error if a server cannot listen at an address; "" and port 0 are always free.
func isFree(address string) error {
	if _, port, err := net.SplitHostPort(address); err != nil || port == "0" ||
		port == strconv.Itoa(server.RANDOM_PORT) {
		return nil
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return ln.Close()
}

// URL is where nodes connect to; empty: only this process can.
func (s *Server) URL() string {
	if s.s.Addr() == nil {
		return ""
	}
	return "nats://" + s.s.Addr().String()
}

// servers returns the number of JetStream servers that this one knows or is configured with,
// itself included.
func (s *Server) servers() int {
	if !s.s.JetStreamIsClustered() {
		return 1
	}
	return max(len(s.s.JetStreamClusterPeers()), s.routes+1)
}

// Close stops the server. What it stores stays.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
}
