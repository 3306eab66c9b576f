//go:build unix

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/cluster"
)

// Three nodes in their own network namespaces: one is killed, and one is cut off from the cluster but
// not from the web. Nothing is lost, only what was in flight is fetched twice, and no host gets a
// request too soon. Web and server are in a fourth namespace, where this test runs itself again; no
// address of the machine is used.
func TestNodesCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes for a minute or two")
	}
	t.Parallel() // it mostly waits
	space := os.Getenv("GAZEHOUND_TEST_SPACE")
	if space == "" {
		cutOffOutside(t)
		return
	}
	const token = "a-secret-of-this-test"
	ip(t, "link", "set", "lo", "up")
	w := newNodesWeb(t, 40)
	s, err := cluster.Serve(cluster.ServerOptions{Name: "hub", Dir: t.TempDir(), Listen: "0.0.0.0:0", Token: token, MaxBytes: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	w.url = "nats://" + token + "@127.0.0.1:" + port
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: w.ledger, ReadHeaderTimeout: 10 * time.Second}
	go web.Serve(ln)
	t.Cleanup(func() { web.Close() })
	_, webPort, _ := net.SplitHostPort(ln.Addr().String())
	subnet := map[string]int{"a": 1, "b": 2, "c": 3}
	for name, i := range subnet {
		for line, net := range map[string]int{"cluster": 98, "web": 99} {
			here, there := line+"-"+name, fmt.Sprintf("10.%d.%d", net, i)
			ip(t, "link", "add", here, "type", "veth", "peer", "name", line, "netns", space+name)
			ip(t, "address", "add", there+".1/24", "dev", here)
			ip(t, "link", "set", here, "up")
			ip(t, "-n", space+name, "address", "add", there+".2/24", "dev", line)
			ip(t, "-n", space+name, "link", "set", line, "up")
		}
		ip(t, "-n", space+name, "link", "set", "lo", "up")
	}
	w.within = func(name string) []string { return []string{"ip", "netns", "exec", space + name} }
	w.join = func(name string) []string {
		return []string{"--cluster", fmt.Sprintf("nats://10.98.%d.1:%s", subnet[name], port), "--token-file", tokenFile, "--proxy", fmt.Sprintf("http://10.99.%d.1:%s", subnet[name], webPort)}
	}
	a, b, c := w.start("a", "--wait-for", "3"), w.start("b", "--wait-for", "3"), w.start("c", "--wait-for", "3")
	b.reach(t, 20)
	b.Process.Kill()
	<-b.ended
	c.reach(t, 20)
	ip(t, "link", "set", "cluster-c", "down")
	before := c.pages.Load()
	b = w.start("b")
	time.Sleep(time.Second)
	t.Logf("cut off from the cluster for 1 s, c fetched %d pages", c.pages.Load()-before)
	ip(t, "link", "set", "cluster-c", "up")
	for name, p := range map[string]*nodeProcess{"a": a, "b": b, "c": c} {
		p.end(t, name, w.url)
	}
	w.check(t, 2*nodeWorkers)
}

// cutOffOutside makes the namespaces and runs the test in one of them.
func cutOffOutside(t *testing.T) {
	space := fmt.Sprintf("gazehound%d", os.Getpid())
	for _, name := range []string{"", "a", "b", "c"} {
		if out, err := exec.Command("ip", "netns", "add", space+name).CombinedOutput(); err != nil {
			t.Skipf("needs network namespaces (root and iproute2): ip netns add: %v %s", err, out)
		}
		t.Cleanup(func() { exec.Command("ip", "netns", "delete", space+name).Run() })
	}
	if out, err := exec.Command("ip", "-n", space, "link", "add", "x", "type", "veth", "peer", "name", "y").CombinedOutput(); err != nil {
		t.Skipf("needs virtual Ethernet: %v %s", err, out)
	}
	inside := exec.Command("ip", "netns", "exec", space, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "6m")
	inside.Env = append(os.Environ(), "GAZEHOUND_TEST_SPACE="+space)
	out, err := inside.CombinedOutput()
	if t.Logf("in its namespace:\n%s", out); err != nil {
		t.Error(err)
	}
}

// ip runs ip(8).
func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v %s", strings.Join(args, " "), err, out)
	}
}
