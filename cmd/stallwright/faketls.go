package main

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"strings"

	"github.com/stallwright/stallwright/fakes/provider"
)

// security is how the fake is to speak TLS. The zero value is without.
type security struct {
	own               bool // with a certificate of its own
	certFile, keyFile string
}

// trust is the TLS of a fake, and the file by which clients trust it.
type trust struct {
	config *tls.Config // nil without TLS
	file   string      // the PEM of a certificate made for this run, "" for none
}

// begin makes what it takes. The host is the one that the fake listens on.
func (s security) begin(host string) (*trust, error) {
	switch {
	case (s.certFile == "") != (s.keyFile == ""):
		return nil, misuse("give both", "--tls-cert and --tls-key belong together")
	case s.own && s.certFile != "":
		return nil, misuse("leave out --tls: a certificate is enough", "--tls makes a certificate of its own")
	case s.certFile != "":
		cert, err := tls.LoadX509KeyPair(s.certFile, s.keyFile)
		if err != nil {
			return nil, misuse("", "--tls-cert %s with --tls-key %s: %w", s.certFile, s.keyFile, reason(err))
		}
		return &trust{config: &tls.Config{Certificates: []tls.Certificate{cert}}}, nil
	case !s.own:
		return &trust{}, nil
	}
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	if ip := net.ParseIP(host); host != "" && host != "localhost" && (ip == nil || !ip.IsUnspecified() && !ip.IsLoopback()) {
		hosts = append(hosts, host)
	}
	cert, err := provider.NewCertificate(hosts...)
	if err != nil {
		return nil, internal(err)
	}
	f, err := os.CreateTemp("", "stallwright-*.pem")
	if err != nil {
		return nil, internal(err)
	}
	err = pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return nil, internal(err)
	}
	return &trust{config: &tls.Config{Certificates: []tls.Certificate{cert}}, file: f.Name()}, nil
}

// end takes the file away: nothing that this run's key has signed can be trusted afterwards.
func (t *trust) end() error {
	if t.file == "" {
		return nil
	}
	return os.Remove(t.file)
}

// quoted is a path as a shell reads it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
