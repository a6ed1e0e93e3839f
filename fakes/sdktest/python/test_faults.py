"""Every fault in the middle of a stream: what the SDK makes of it. Each is met once; no SDK asks again."""

import dataclasses

import pytest

from ways import WAYS, ask


@dataclasses.dataclass
class Met:
    """What a caller is left with."""

    text: str
    finished: bool = False  # it was told why the model stopped
    fails: str | None = None  # how the error begins


WHOLE = Met("one two three", finished=True)
SILENT = Met("one two ")  # the stream ends as if all were well, and says no reason


def fails(how, text="one two "):
    return Met(text, fails=how)


# openai-python 3.3.1 let httpx's own errors through; 3.57.0 has its own, with those as the cause.
OPENAI_LOST = fails("openai.APIConnectionError: Connection error.")
NOT_COMPLETED = fails("builtins.RuntimeError: Didn't receive a `response.completed` event.")
NO_JSON = "json.JSONDecodeError: Expecting value"
NO_GEMINI = "google.UnknownApiResponseError: Failed to parse response as JSON. Raw response: "


@dataclasses.dataclass
class Fault:
    name: str
    struck: str  # the kind of its event
    script: str
    # By way, or by the words that it begins with: the longest fits. Those that are not here are not asked: the fault
    # has no meaning in their dialect.
    met: dict


FAULTS = [
    # The connection.
    Fault(
        "the connection is cut",
        "cut",
        """
        - role
        - text: ["one ", "two "]
        - pause: 60ms
        - cut
        """,
        {
            "openai": OPENAI_LOST,
            "responses": OPENAI_LOST,
            "anthropic": fails("httpx2.RemoteProtocolError: peer closed connection without sending complete message body"),
            "gemini": fails("httpx2.RemoteProtocolError: peer closed connection without sending complete message body"),
            "ollama": fails("httpx.RemoteProtocolError: peer closed connection without sending complete message body"),
            "bedrock": fails("urllib3.ProtocolError: Response ended prematurely"),
        },
    ),
    Fault(
        "the connection is reset",
        "reset",
        """
        - role
        - text: ["one ", "two "]
        - pause: 60ms
        - reset
        """,
        {
            "openai": OPENAI_LOST,
            "responses": OPENAI_LOST,
            "anthropic": fails("httpx2.ReadError: [Errno 104]"),
            "gemini": fails("httpx2.ReadError: [Errno 104]"),
            "ollama": fails("httpx.ReadError: [Errno 104]"),
            "bedrock": fails('urllib3.ProtocolError: ("Connection broken: ConnectionResetError(104'),
        },
    ),
    Fault(
        "the fake's side is closed",
        "half-close",
        """
        - role
        - text: ["one ", "two "]
        - pause: 60ms
        - half-close
        """,
        {
            "openai": OPENAI_LOST,
            "responses": OPENAI_LOST,
            "anthropic": fails("httpx2.RemoteProtocolError: peer closed connection"),
            "gemini": fails("httpx2.RemoteProtocolError: peer closed connection"),
            "ollama": fails("httpx.RemoteProtocolError: peer closed connection"),
            "bedrock": fails("urllib3.ProtocolError: Response ended prematurely"),
        },
    ),
    # What is missing at the end.
    Fault(
        "the terminator is missing",
        "end",
        """
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - end
        """,
        {
            "": WHOLE,
            "responses stream": Met("one two three"),
            "responses helper": dataclasses.replace(NOT_COMPLETED, text="one two three"),
            "ollama stream": Met("one two three"),
        },
    ),
    Fault(
        "the finish reason is missing",
        "done",
        """
        - role
        - text: ["one ", "two "]
        - done
        - end
        """,
        {
            "openai": SILENT,
            "responses": Met("one two ", finished=True),
            "anthropic": SILENT,
            "ollama": SILENT,
            "bedrock": SILENT,
        },
    ),
    Fault(
        "both are missing, and the body ends as HTTP says",
        "end",
        """
        - role
        - text: ["one ", "two "]
        - end
        """,
        {"": SILENT, "responses helper": NOT_COMPLETED},
    ),
    Fault(
        "there is no answer but an end",
        "end",
        """
        - headers
        - end
        """,
        {
            "openai stream": Met(""),
            "openai helper": fails("builtins.AssertionError", ""),
            "responses stream": Met(""),
            "responses helper": fails("builtins.RuntimeError", ""),
            "anthropic stream": Met(""),
            "anthropic helper": fails("builtins.AssertionError", ""),
            "gemini": Met(""),
            "ollama": Met(""),
            "bedrock": Met(""),
        },
    ),
    Fault(
        "something follows the terminator",
        "raw",
        """
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - raw: "data: garbage\\n\\n"
        - end
        """,
        {
            "openai": WHOLE,  # which reads no further than [DONE]
            "responses": fails(NO_JSON, "one two three"),
            "anthropic": WHOLE,  # an event without a name is none
            "gemini": fails(NO_GEMINI + "garbage", "one two three"),
            "ollama": fails(NO_JSON, "one two three"),
        },
    ),
    # Lines, as the specification of server-sent events allows them.
    Fault(
        "lines end in CRLF",
        "lines",
        """
        - lines: crlf
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": WHOLE, "ollama": WHOLE},
    ),
    Fault(
        "lines end in CR",
        "lines",
        """
        - lines: cr
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": WHOLE, "ollama": WHOLE},
    ),
    Fault(
        "a byte order mark comes first",
        "lines",
        """
        - lines: {bom: true}
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {
            # 3.3.1 lost the first event.
            "openai": WHOLE,
            "responses": WHOLE,
            # The first event is lost, and the helper misses message_start.
            "anthropic stream": WHOLE,
            "anthropic helper": fails("builtins.AssertionError", "one two three"),
            "gemini": fails(NO_GEMINI + "\ufeffdata: ", ""),
        },
    ),
    Fault(
        "no space stands behind the colon",
        "lines",
        """
        - lines: {no-space: true}
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": fails(NO_GEMINI + "data:{", "")},
    ),
    Fault(
        "data comes on several lines",
        "lines",
        """
        - lines: {several: true}
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": WHOLE},
    ),
    # Frames that say nothing.
    Fault(
        "a comment comes between",
        "comment",
        """
        - role
        - text: ["one ", "two "]
        - comment: still here
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": fails(NO_GEMINI + ": still here")},
    ),
    Fault(
        "comments come first, and all the time",
        "keepalive",
        """
        - keepalive: {form: comment, every: 10ms}
        - pause: 100ms
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": fails(NO_GEMINI + ": ping", "")},
    ),
    Fault(
        "pings come between",
        "keepalive",
        """
        - role
        - text: ["one ", "two "]
        - keepalive: {form: ping, every: 10ms}
        - pause: 100ms
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"responses": WHOLE, "anthropic": WHOLE},
    ),
    Fault(
        "empty deltas come between",
        "keepalive",
        """
        - role
        - text: ["one ", "two "]
        - keepalive: {form: empty, every: 10ms}
        - pause: 100ms
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"": WHOLE},
    ),
    Fault(
        "the role comes again and again",
        "keepalive",
        """
        - role
        - text: ["one ", "two "]
        - keepalive: {form: role, every: 10ms}
        - pause: 100ms
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE},
    ),
    Fault(
        "data is empty",
        "keepalive",
        """
        - role
        - text: ["one ", "two "]
        - keepalive: {form: empty-data, every: 10ms}
        - pause: 100ms
        - text: three
        - finish: stop
        - done
        - end
        """,
        {
            "openai": fails(NO_JSON),
            "responses": fails(NO_JSON),
            "anthropic": WHOLE,
            "gemini": fails(NO_GEMINI + "data:"),
        },
    ),
    Fault(
        "an event has a name and no data",
        "raw",
        """
        - role
        - text: ["one ", "two "]
        - raw: "event: ping\\n\\n"
        - text: three
        - finish: stop
        - done
        - end
        """,
        {
            "openai": fails(NO_JSON),
            "responses": fails(NO_JSON),
            "anthropic": WHOLE,
            "gemini": fails(NO_GEMINI + "event: ping"),
        },
    ),
    Fault(
        "an event has an id, and a comment follows",
        "raw",
        """
        - role
        - text: ["one ", "two "]
        - raw: "id: 7\\n\\n"
        - comment: still here
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"openai": fails(NO_JSON), "responses": fails(NO_JSON), "anthropic": WHOLE, "gemini": fails(NO_GEMINI + "id: 7")},
    ),
    Fault(
        "blank lines stand between events",
        "raw",
        """
        - role
        - text: ["one ", "two "]
        - raw: "\\n\\n\\n"
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": WHOLE, "ollama": fails(NO_JSON)},
    ),
    # Frames that are broken.
    Fault(
        "a frame's JSON lacks its last brace",
        "garble",
        """
        - role
        - text: ["one ", "two "]
        - garble: brace
        - text: three
        - finish: stop
        - done
        - end
        """,
        {
            "openai": fails("json.JSONDecodeError: Expecting ',' delimiter"),
            "responses": fails("json.JSONDecodeError: Expecting ',' delimiter"),
            "anthropic": fails("json.JSONDecodeError: Expecting ',' delimiter"),
            "gemini": fails(NO_GEMINI + '{"candidates"'),
            "ollama": fails("json.JSONDecodeError: Expecting ',' delimiter"),
            "bedrock": fails("botocore.ChecksumMismatch: Checksum mismatch"),
        },
    ),
    Fault(
        "a frame is plain text",
        "garble",
        """
        - role
        - text: ["one ", "two "]
        - garble: plain
        - text: three
        - finish: stop
        - done
        - end
        """,
        {
            "openai": fails(NO_JSON),
            "responses": fails(NO_JSON),
            "anthropic": fails(NO_JSON),
            "gemini": fails(NO_GEMINI + "Internal Server Error"),
            "ollama": fails(NO_JSON),
            "bedrock": fails("botocore.ChecksumMismatch: Checksum mismatch"),
        },
    ),
    Fault(
        "the prefix of a frame stands twice",
        "garble",
        """
        - role
        - text: ["one ", "two "]
        - garble: doubled
        - text: three
        - finish: stop
        - done
        - end
        """,
        {
            "openai": fails(NO_JSON),
            "responses": fails(NO_JSON),
            "anthropic": fails(NO_JSON),
            "gemini": fails(NO_GEMINI + "data: {"),
        },
    ),
    Fault(
        "two frames run together",
        "garble",
        """
        - role
        - text: ["one ", "two "]
        - garble: no-blank
        - text: three
        - finish: stop
        - done
        - end
        """,
        {
            "openai": fails("json.JSONDecodeError: Extra data"),
            "responses": fails("json.JSONDecodeError: Extra data"),
            "anthropic": fails("json.JSONDecodeError: Extra data"),
            "gemini": fails(NO_GEMINI + '{"candidates"'),
        },
    ),
    Fault(
        "a frame has no name",
        "garble",
        """
        - role
        - text: ["one ", "two "]
        - garble: no-event
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"responses": WHOLE, "anthropic": Met("one two ", finished=True)},  # a piece of text is lost, and nobody is told
    ),
    Fault(
        "a byte is no UTF-8",
        "garble",
        """
        - role
        - text: ["one ", "two "]
        - garble: utf-8
        - text: three
        - finish: stop
        - done
        - end
        """,
        {
            "openai": fails("builtins.UnicodeDecodeError"),
            "responses": fails("builtins.UnicodeDecodeError"),
            "anthropic": fails("builtins.UnicodeDecodeError"),
            "gemini": Met("one two \ufffdthree", finished=True),
            "ollama": Met("one two \ufffdthree", finished=True),
        },
    ),
    Fault(
        "the body is no gzip, which it says it is",
        "raw",
        """
        - headers: {header: {Content-Encoding: gzip}}
        - raw: plain
        - end
        """,
        {
            "openai": dataclasses.replace(OPENAI_LOST, text=""),
            "responses": dataclasses.replace(OPENAI_LOST, text=""),
            "anthropic": fails("httpx2.DecodingError", ""),
            "gemini": fails("httpx2.DecodingError", ""),
            "ollama": fails("httpx.DecodingError", ""),
        },
    ),
    # How bytes come.
    Fault(
        "the body is compressed",
        "headers",
        """
        - headers: {gzip: true}
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "responses": WHOLE, "anthropic": WHOLE, "gemini": WHOLE, "ollama": WHOLE},
    ),
    Fault(
        "bytes come one by one, letters of several bytes among them",
        "split",
        """
        - split: 1
        - role
        - text: ["ä🌍", "ß"]
        - finish: stop
        - done
        - end
        """,
        {"": Met("ä🌍ß", finished=True)},
    ),
    Fault(
        "bytes drip",
        "drip",
        """
        - drip: {bytes: 20, every: 1ms}
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"": WHOLE},
    ),
    Fault(
        "frames come together",
        "batch",
        """
        - batch: 4
        - role
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"": WHOLE},
    ),
    # Errors in the stream.
    Fault(
        "an error comes in the stream",
        "error",
        """
        - role
        - text: ["one ", "two "]
        - error: {type: server_error, message: oops}
        - end
        """,
        {
            "openai": fails("openai.APIError: oops"),
            "responses": fails("openai.APIError: oops"),
            "anthropic": fails("anthropic.APIStatusError: {'type': 'error', 'error': {'type': 'server_error'"),
            "gemini": fails("google.ServerError: 500 INTERNAL. {'error': {'code': 500, 'message': 'oops'"),
            "ollama": fails("ollama.ResponseError: oops"),
            "bedrock": fails("botocore.EventStreamError: An error occurred (internalServerException)"),
        },
    ),
    Fault(
        "an error comes first in the stream",
        "error",
        """
        - error: {type: overloaded_error, message: oops}
        - end
        """,
        {
            "openai": fails("openai.APIError: oops", ""),
            "responses": fails("openai.APIError: oops", ""),
            "anthropic": fails("anthropic.APIStatusError: {'type': 'error', 'error': {'type': 'overloaded_error'", ""),
            "gemini": fails("google.ServerError: 503 UNAVAILABLE.", ""),
            "ollama": fails("ollama.ResponseError: oops", ""),
            "bedrock": fails("botocore.EventStreamError: An error occurred (serviceUnavailableException)", ""),
        },
    ),
    Fault(
        "an error has its members at the top",
        "error",
        """
        - role
        - text: ["one ", "two "]
        - error: {type: server_error, message: oops, form: flat}
        - end
        """,
        {
            # A chunk without choices: who puts chunks together stumbles, the helper does not look.
            "openai stream": fails("builtins.TypeError: 'NoneType' object is not iterable"),
            "openai helper": SILENT,
            "responses stream": Met("one two ", finished=True),  # an event like any other
            "responses helper": NOT_COMPLETED,
            "anthropic": fails("anthropic.APIStatusError: {'type': 'server_error', 'message': 'oops'}"),
            "bedrock": fails("botocore.EventStreamError: An error occurred (server_error)"),
        },
    ),
    Fault(
        "an error has no event name",
        "error",
        """
        - role
        - text: ["one ", "two "]
        - error: {type: server_error, message: oops, form: data}
        - end
        """,
        {"responses": fails("openai.APIError: oops"), "anthropic": SILENT},  # an event without a name is none
    ),
    Fault(
        "an error stands beside a choice, or in a response that failed",
        "error",
        """
        - role
        - text: ["one ", "two "]
        - error: {type: server_error, message: oops, form: choices}
        - end
        """,
        {
            "openai": fails("openai.APIError: oops"),
            "responses stream": Met("one two ", finished=True),
            "responses helper": NOT_COMPLETED,
        },
    ),
    Fault(
        "an error in a chunk is null",
        "raw",
        """
        - role
        - text: ["one ", "two "]
        - raw: |+
            data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","error":null,"choices":[]}

        - text: three
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE},
    ),
    Fault(
        "an event of an unknown type comes",
        "raw",
        """
        - role
        - text: ["one ", "two "]
        - raw: "event: response.novelty\\ndata: {\\"type\\":\\"response.novelty\\",\\"sequence_number\\":9}\\n\\n"
        - text: three
        - finish: stop
        - done
        - end
        """,
        {"responses": WHOLE, "anthropic": WHOLE},
    ),
    # Tool calls as no provider should send them.
    Fault(
        "the pieces of two calls alternate",
        "tool-chunk",
        """
        - role
        - tool-chunk: [{index: 0, id: call_1, type: function, name: f, args: ""}, {index: 1, id: call_2, type: function, name: g, args: ""}]
        - tool-chunk: [{index: 1, args: '{"b"'}]
        - tool-chunk: [{index: 0, args: '{"a"'}]
        - tool-chunk: [{index: 1, args: ':2}'}, {index: 0, args: ':1}'}]
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai": WHOLE, "anthropic": WHOLE, "responses stream": WHOLE, "responses helper": WHOLE},
    ),
    Fault(
        "the numbers of calls have a gap",
        "tool-chunk",
        """
        - role
        - tool-chunk: [{index: 0, id: call_1, type: function, name: f, args: "{}"}]
        - tool-chunk: [{index: 2, id: call_2, type: function, name: g, args: "{}"}]
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai stream": WHOLE, "openai helper": fails("builtins.IndexError", "")},
    ),
    Fault(
        "a call has no number",
        "tool-chunk",
        """
        - role
        - tool-chunk: [{id: call_1, type: function, name: f, args: "{}"}]
        - text: ["one ", "two ", "three"]
        - finish: stop
        - done
        - end
        """,
        {"openai stream": WHOLE, "openai helper": fails("builtins.TypeError", "")},
    ),
]

STREAMS = [way for way in WAYS if not way.endswith("whole")]


def cases():
    for fault in FAULTS:
        for way in STREAMS:
            fitting = [words for words in fault.met if way.startswith(words)]
            if fitting:
                yield pytest.param(fault, way, fault.met[max(fitting, key=len)], id=f"{fault.name}: {way}")


@pytest.mark.parametrize(("fault", "way", "met"), list(cases()))
def test_fault(play, fault, way, met):
    session = play(fault.script)
    got, failed, _ = ask(session, way)
    assert got.text == met.text
    if met.fails:
        assert failed and failed.startswith(met.fails)
    else:
        assert failed is None
        assert (got.finish is not None) == met.finished
    session.close()
    assert fault.struck in session.kinds(), session.story()
    assert session.kinds().count("request") == 1, session.story()


# A call whose head says its id and name again, as some gateways do in each frame.
REPEATED = """
- role
- tool-chunk: [{index: 0, id: call_1, type: function, name: f, args: '{"a"'}]
- tool-chunk: [{index: 0, id: call_1, type: function, name: f, args: ':1}'}]
- finish: tool_calls
- done
- end
"""

EMPTY = """
- role
- tool-chunk: [{index: 0, id: call_1, type: function, name: f, args: '{"a"'}]
- tool-chunk: [{index: 0, id: "", type: function, name: "", args: ':1}'}]
- finish: tool_calls
- done
- end
"""


@pytest.mark.parametrize(
    ("name", "script", "way", "calls"),
    [
        ("an id that comes again is put behind itself", REPEATED, "openai helper", [("call_1call_1", "ff", {"a": 1})]),
        ("an id that comes again is taken as it is", REPEATED, "openai stream", [("call_1", "f", {"a": 1})]),
        ("an empty id changes nothing", EMPTY, "openai helper", [("call_1", "f", {"a": 1})]),
        ("an empty id is no id", EMPTY, "openai stream", [("call_1", "f", {"a": 1})]),
    ],
)
def test_repeated_heads(play, name, script, way, calls):
    got, failed, _ = ask(play(script), way)
    assert failed is None
    assert got.calls == calls
