"""Clients that lose their patience, or leave: the fake sees them go."""

import contextlib

import pytest

import ways
from ways import WAYS, ask

OPENAI = "openai.APITimeoutError: Request timed out."
ANTHROPIC = "anthropic.APITimeoutError: Request timed out"
BOTO = "botocore.ReadTimeoutError: Read timeout on endpoint URL"

# By dialect: the error, and the requests.
NO_HEADERS = {
    "openai": (OPENAI, 3),
    "responses": (OPENAI, 3),
    "anthropic": (ANTHROPIC, 3),
    "gemini": ("httpx2.ReadTimeout: timed out", 1),
    "ollama": ("httpx.ReadTimeout: timed out", 1),
    "bedrock": (BOTO, 3),
}
IN_THE_STREAM = {
    "openai": (OPENAI, 1),  # httpx's own in 3.3.1
    "responses": (OPENAI, 1),
    "anthropic": ("httpx2.ReadTimeout: timed out", 1),
    "gemini": ("httpx2.ReadTimeout: timed out", 1),
    "ollama": ("httpx.ReadTimeout: timed out", 1),
    "bedrock": ("urllib3.ReadTimeoutError: ", 1),
}


def is_whole(way):
    return way.endswith("whole")


@pytest.mark.parametrize("way", WAYS)
def test_no_headers(play, naps, way):
    session = play("- stall: forever")
    error, requests = NO_HEADERS[way.partition(" ")[0]]
    got, failed, _ = ask(session, way, timeout=0.4)
    assert failed.startswith(error)
    session.close()
    assert len(session.details("left")) == requests, session.story()
    assert session.kinds().count("request") == requests
    assert len(naps) == requests - 1


@pytest.mark.parametrize("way", WAYS)
def test_headers_and_no_more(play, naps, way):
    session = play("- headers\n- stall: forever")
    # A body in one piece is part of the attempt, a stream is not.
    error, requests = (NO_HEADERS if is_whole(way) else IN_THE_STREAM)[way.partition(" ")[0]]
    got, failed, _ = ask(session, way, timeout=0.4)
    assert failed.startswith(error)
    session.close()
    assert len(session.details("left")) == requests, session.story()


@pytest.mark.parametrize("way", [way for way in WAYS if not is_whole(way)])
def test_silence_in_the_stream(play, way):
    session = play(
        """
        - role
        - text: ["one ", "two "]
        - stall: forever
        """
    )
    error, _ = IN_THE_STREAM[way.partition(" ")[0]]
    got, failed, _ = ask(session, way, timeout=0.5)
    assert got.text == "one two "
    assert failed.startswith(error)
    session.close()
    assert session.kinds().count("request") == 1
    [left] = session.details("left")
    assert left.startswith(("fin", "rst"))


# The timeout of these SDKs is one of a read: any byte is life.
@pytest.mark.parametrize(
    ("form", "way"),
    [(form, way) for form in ("comment", "empty") for way in ("openai stream", "openai helper", "responses stream", "anthropic stream")]
    + [("empty", "ollama stream"), ("empty", "bedrock stream"), ("empty", "gemini stream"), ("ping", "anthropic helper")],
)
def test_signs_of_life(play, form, way):
    session = play(
        f"""
        - role
        - text: ["one ", "two "]
        - keepalive: {{form: {form}, every: 50ms}}
        - pause: 1200ms
        - text: three
        - finish: stop
        - done
        - end
        """
    )
    got, failed, _ = ask(session, way, timeout=0.6)
    assert failed is None
    assert got.text == "one two three"
    session.close()
    assert "keepalive" in session.kinds()


def openai_stream(session):
    client = ways.openai_client(session)
    return client, client.chat.completions.create(**ways.chat(session), stream=True)


def responses_stream(session):
    client = ways.openai_client(session)
    return client, client.responses.create(**ways.question(session), stream=True)


def anthropic_stream(session):
    client = ways.anthropic_client(session)
    return client, client.messages.create(**ways.message(session), stream=True)


def gemini_stream(session):
    client = ways.gemini_client(session)
    return client, client.models.generate_content_stream(**ways.content(session))


def ollama_stream(session):
    client = ways.ollama_client(session)
    return client, client.chat(**ways.chat(session), stream=True)


@pytest.mark.parametrize("begin", [openai_stream, responses_stream, anthropic_stream, gemini_stream, ollama_stream])
def test_stream_is_closed_early(play, begin):
    session = play(
        """
        - role
        - text: ["one ", "two "]
        - stall: forever
        """
    )
    client, stream = begin(session)
    with contextlib.closing(client):
        next(iter(stream))
        session.await_event("stall")
        stream.close()
        assert session.await_event("left")["detail"].startswith(("fin", "rst"))
    session.close()


def test_bedrock_stream_is_closed_early(play):
    session = play(
        """
        - role
        - text: ["one ", "two "]
        - stall: forever
        """
    )
    with contextlib.closing(ways.bedrock_client(session)) as client:
        stream = client.converse_stream(**ways.turn(session))["stream"]
        assert "messageStart" in next(iter(stream))
        session.await_event("stall")
        stream.close()
        assert session.await_event("left")["detail"].startswith(("fin", "rst"))
    session.close()


# The fake answers while the client waits at a gate: nothing is held back on the way.
@pytest.mark.parametrize("begin", [openai_stream, responses_stream, anthropic_stream, gemini_stream, ollama_stream])
def test_what_was_sent_is_there_at_once(play, begin):
    session = play(
        """
        - role
        - text: "one "
        - await: go-on
        - text: two
        - finish: stop
        - done
        - end
        """
    )
    client, stream = begin(session)
    with contextlib.closing(client):
        events = iter(stream)
        seen = str(next(events))
        while "one " not in seen:
            seen = str(next(events))
        session.await_event("await")
        session.open_gate("go-on")
        assert any("two" in str(event) for event in events)
    session.close()
