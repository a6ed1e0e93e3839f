"""The fake MCP server as these tests drive it: a process that tells its timeline on standard error."""

import os
import pathlib
import re
import subprocess
import threading

SCRIPT = str(pathlib.Path(__file__).parent.parent / "mcp" / "tools.yaml")
LINE = re.compile(r"^\+\S+ mcp (?:\S*#\S+ )?([a-z-]+) ?(.*)$")
ENOUGH = 10  # seconds, for what happens at once: only a test that fails waits for it


class Timeline:
    """What a fake has told on a pipe, and is to tell."""

    def __init__(self, pipe):
        self.events, self.ended, self.more = [], False, threading.Condition()
        self.thread = threading.Thread(target=self._read, args=(pipe,))
        self.thread.start()

    def _read(self, pipe):
        with pipe:
            for line in pipe:
                if found := LINE.match(line.rstrip("\n")):
                    with self.more:
                        self.events.append(found.groups())
                        self.more.notify_all()
        with self.more:
            self.ended = True
            self.more.notify_all()

    def wait_for(self, kind, text=""):
        """Returns once there is an event of this kind whose detail has a text."""

        def seen():
            return any(k == kind and text in detail for k, detail in self.events)

        with self.more:
            self.more.wait_for(lambda: seen() or self.ended, ENOUGH)
            assert seen(), f"no {kind} {text}: {self.story()}"

    def close(self):
        self.thread.join()

    def details(self, kind):
        return [detail for k, detail in self.events if k == kind]

    def story(self):
        return "\n".join(f"{kind} {detail}" for kind, detail in self.events)


class HTTPServer:
    """A fake over HTTP."""

    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["STALLWRIGHT"], "fake", "mcp", "--listen", "127.0.0.1:0", "--script", SCRIPT],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.timeline = Timeline(self.process.stderr)
        self.url = self.process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", self.url), self.url

    def close(self):
        """Ends the fake, so that its timeline is whole."""
        self.process.terminate()
        self.timeline.close()
        self.process.stdout.close()
        self.process.wait(ENOUGH)


class PipeServer:
    """A fake that a client's transport starts."""

    def __init__(self):
        reads, writes = os.pipe()
        self.errlog = os.fdopen(writes, "w")
        self.timeline = Timeline(os.fdopen(reads))
        self.command = [os.environ["STALLWRIGHT"], "fake", "mcp", "--stdio", "--script", SCRIPT]

    def close(self):
        """Waits until the process has ended, which the client has brought about."""
        self.errlog.close()
        self.timeline.close()
