"""A stalled stream, seen by a client in Python. Needs pytest, and stallwright on the PATH or in $STALLWRIGHT."""

import http.client
import json
import os
import pathlib
import subprocess
import urllib.parse

import pytest

SCRIPT = pathlib.Path(__file__).parent.parent / "scripts" / "gated.yaml"


@pytest.fixture(scope="session")
def fake():
    """The URL of a fake provider that runs as long as the tests do."""
    command = [os.environ.get("STALLWRIGHT", "stallwright"), "fake", "provider", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        yield process.stdout.readline().strip().removesuffix("/v1")
        process.terminate()


@pytest.fixture
def session(fake):
    """A fake that plays SCRIPT to whoever has [[sw:python]] in a prompt."""
    call(fake, "POST", "/_stallwright/scripts?marker=python", SCRIPT.read_bytes())
    yield fake
    left = call(fake, "DELETE", "/_stallwright/scripts?marker=python")
    assert left == {"unplayed": []}


def open_response(fake, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(fake).netloc, timeout=10)
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    assert response.status == 200, response.read()
    return response


def call(fake, method, path, body=None):
    with open_response(fake, method, path, body) as response:
        return json.load(response)


def await_event(events, kind):
    for line in events:
        event = json.loads(line)
        if event["kind"] == kind:
            return event
    raise AssertionError(f"the stream has ended before {kind}")


def deltas(response):
    """The texts of an OpenAI stream."""
    for line in response:
        data = line.decode().removeprefix("data: ").strip()
        if data.startswith("{"):
            for choice in json.loads(data)["choices"]:
                if text := choice["delta"].get("content"):
                    yield text


def test_the_answer_waits_for_the_gate(session):
    with open_response(session, "GET", "/_stallwright/timeline/stream?marker=python") as events:
        prompt = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello [[sw:python]]"}]}
        with open_response(
            session, "POST", "/v1/chat/completions", json.dumps(prompt), {"Content-Type": "application/json"}
        ) as answer:
            texts = deltas(answer)
            assert next(texts) == "The answer begins "
            assert await_event(events, "await")["detail"] == "go-on"  # the stream is silent now

            call(session, "POST", "/_stallwright/gates/go-on?marker=python")
            assert list(texts) == ["and ends."]
            await_event(events, "end")

    recorded = call(session, "GET", "/_stallwright/timeline?marker=python")["events"]
    kinds = [event["kind"] for event in recorded]
    assert kinds.index("await") < kinds.index("open") < kinds.index("end")
    assert kinds.count("request") == 1
