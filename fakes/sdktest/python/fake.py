"""The fake provider as these tests drive it: a child process, and a session for each test over its admin API."""

import http.client
import json
import subprocess
import urllib.parse

# What the fake records as the last event of an exchange, however it ended.
ENDINGS = {"end", "cut", "reset", "status", "left", "closed", "refused", "violation"}


class Fake:
    """A fake provider that runs until close."""

    def __init__(self, binary):
        self.process = subprocess.Popen(
            [binary, "fake", "provider", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        line = self.process.stdout.readline().strip()
        assert line.startswith("http://127.0.0.1:"), f"the fake did not start: {line!r}"
        self.url = line.removesuffix("/v1")

    def close(self):
        self.process.terminate()
        self.process.communicate(timeout=10)

    def open(self, method, path, body=None):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=20)
        connection.request(method, "/_stallwright/" + path, body, {"Connection": "close"})
        response = connection.getresponse()
        assert response.status == 200, response.read().decode()
        return response

    def call(self, method, path, body=None):
        with self.open(method, path, body) as response:
            return json.load(response)


class Session:
    """One script and the requests that carry its marker."""

    def __init__(self, fake, marker, script):
        self.fake, self.marker, self.script = fake, marker, script
        self.prompt = f"hello [[sw:{marker}]]"
        self.events = None  # the whole timeline, once the session has ended
        fake.call("POST", f"scripts?marker={marker}", script.encode())

    def open_gate(self, name):
        self.fake.call("POST", f"gates/{name}?marker={self.marker}")

    def await_event(self, kind):
        """The next event of this kind, from the beginning of the timeline."""
        with self.fake.open("GET", f"timeline/stream?marker={self.marker}") as lines:
            for line in lines:
                event = json.loads(line)
                if event["kind"] == kind:
                    return event
        raise AssertionError(f"the session ended before {kind}")

    def close(self, left_open=False):
        """Ends the session once every exchange has ended by itself, left_open aside, and keeps its timeline."""
        lines = self.fake.open("GET", f"timeline/stream?marker={self.marker}")
        with lines:
            recorded = self.fake.call("GET", f"timeline?marker={self.marker}")["events"]
            running = {event["ref"] for event in recorded if event["kind"] == "request"}
            self.events = []
            while running and not left_open:
                event = json.loads(lines.readline())
                self.events.append(event)
                if event["kind"] in ENDINGS:
                    running.discard(event.get("ref"))
            answer = self.fake.call("DELETE", f"scripts?marker={self.marker}")
            self.events += [json.loads(line) for line in lines]
        assert answer == {"unplayed": []}, self.story()
        assert "violation" not in self.kinds(), self.story()

    def kinds(self):
        return [event["kind"] for event in self.events]

    def details(self, kind):
        return [event.get("detail", "") for event in self.events if event["kind"] == kind]

    def story(self):
        return "\n".join(f"{e.get('ref', '')} {e['kind']} {e.get('detail', '')}" for e in self.events)
