package memnet_test

import (
	"io"
	"testing"

	"github.com/stallwright/stallwright/fakes/memnet"
)

// BenchmarkRoundTrip is a small question and its answer.
func BenchmarkRoundTrip(b *testing.B) {
	var n memnet.Network
	client, server := connect(b, &n)
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.CopyBuffer(onlyWriter{server}, onlyReader{server}, make([]byte, 512))
	}()
	buf := make([]byte, 128)
	b.ReportAllocs()
	for b.Loop() {
		client.Write(buf)
		if _, err := io.ReadFull(client, buf); err != nil {
			b.Fatal(err)
		}
	}
	n.Close()
	<-done
}

// BenchmarkStream is one direction at full speed, in chunks of 32 KiB.
func BenchmarkStream(b *testing.B) {
	var n memnet.Network
	client, server := connect(b, &n)
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.CopyBuffer(onlyWriter{io.Discard}, onlyReader{server}, make([]byte, 32<<10))
	}()
	buf := make([]byte, 32<<10)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(buf); err != nil {
			b.Fatal(err)
		}
	}
	n.Close()
	<-done
}

// BenchmarkConnect is a dial, an accept and both closes.
func BenchmarkConnect(b *testing.B) {
	var n memnet.Network
	defer n.Close()
	l, err := n.Listen("svc.test:80")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		client, err := n.DialContext(b.Context(), "tcp", "svc.test:80")
		if err != nil {
			b.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		client.Close()
		server.Close()
	}
}

// Hide the shortcuts (ReadFrom, WriteTo) that would pass by the given buffer.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
