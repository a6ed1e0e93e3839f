package process

import (
	"context"
	"time"

	"github.com/stallwright/stallwright/harness"
)

// Started is a server under test outside of any trial.
type Started struct{ child *child }

// Start starts a server and waits until its log names its address. It fails when that takes longer than wait, when the server ends
// before, and when ctx does, with the cause of ctx; then nothing of it is left.
func Start(ctx context.Context, c harness.Command, wait time.Duration) (*Started, error) {
	ch, err := startChild(ctx, c, wait)
	if err != nil {
		return nil, err
	}
	return &Started{ch}, nil
}

// Address is where it listens.
func (s *Started) Address() string { return s.child.address }

// Pid is its process.
func (s *Started) Pid() int { return s.child.cmd.Process.Pid }

// Done is closed when it has ended and was reaped.
func (s *Started) Done() <-chan struct{} { return s.child.done }

// Stop asks it to end, kills it when it has not within so long, and says how it ended, such as "exited with status 0", with the last lines of
// its log when it did so by itself before. Nothing of it is left then.
func (s *Started) Stop(within time.Duration) string {
	early := s.child.ended()
	s.child.Signal("SIGTERM")
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-s.child.done:
	case <-limit.C:
	}
	s.child.stop()
	how := s.child.ending()
	if early {
		how += s.child.lastLines()
	}
	return how
}
