"""Errors in place of an answer: what they are called, and how often the SDK asks before it says so."""

import dataclasses

import pytest

from ways import WAYS, ask


@dataclasses.dataclass
class Told:
    """How a way tells of a status, and how many requests the fake has seen by then."""

    error: str  # how it begins
    requests: int = 1


def openai(name, requests=1):
    return Told(f"openai.{name}: Error code: ", requests)


def anthropic(name, requests=1):
    return Told(f"anthropic.{name}: Error code: ", requests)


def gemini(name, status):
    return Told(f"google.{name}: {status}. ")


def bedrock(name, requests=1):
    return Told(f"botocore.{name}: An error occurred ({name})", requests)


STATUSES = [
    (
        400,
        {
            "openai": openai("BadRequestError"),
            "responses": openai("BadRequestError"),
            "anthropic": anthropic("BadRequestError"),
            "gemini": gemini("ClientError", "400 INVALID_ARGUMENT"),
            "ollama": Told("ollama.ResponseError: invalid request (status code: 400)"),
            "bedrock": bedrock("ValidationException"),
        },
    ),
    (
        401,
        {
            "openai": openai("AuthenticationError"),
            "responses": openai("AuthenticationError"),
            "anthropic": anthropic("AuthenticationError"),
            "gemini": gemini("ClientError", "401 UNAUTHENTICATED"),
            "ollama": Told("ollama.ResponseError: unauthorized"),
            "bedrock": Told("botocore.ClientError: An error occurred (UnrecognizedClientException)"),
        },
    ),
    (
        403,
        {
            "openai": openai("PermissionDeniedError"),
            "responses": openai("PermissionDeniedError"),
            "anthropic": anthropic("PermissionDeniedError"),
            "gemini": gemini("ClientError", "403 PERMISSION_DENIED"),
            "ollama": Told("ollama.ResponseError: forbidden"),
            "bedrock": bedrock("AccessDeniedException"),
        },
    ),
    (
        404,
        {
            "openai": openai("NotFoundError"),
            # Of a model that is not there, Responses says 400; a script may say otherwise.
            "responses": openai("NotFoundError"),
            "anthropic": anthropic("NotFoundError"),
            "gemini": gemini("ClientError", "404 NOT_FOUND"),
            "ollama": Told("ollama.ResponseError: model 'gpt-x' not found"),
            "bedrock": bedrock("ResourceNotFoundException"),
        },
    ),
    (
        408,
        {
            "openai": openai("APIStatusError", 3),
            "responses": openai("APIStatusError", 3),
            "anthropic": anthropic("RequestTimeoutError", 3),
            "gemini": gemini("ClientError", "408 INVALID_ARGUMENT"),
            "bedrock": bedrock("ModelTimeoutException"),
        },
    ),
    (
        409,
        {
            "openai": openai("ConflictError", 3),
            "responses": openai("ConflictError", 3),
            "anthropic": anthropic("ConflictError", 3),
            "gemini": gemini("ClientError", "409 ABORTED"),
        },
    ),
    (
        413,
        {
            "openai": openai("APIStatusError"),
            "responses": openai("APIStatusError"),
            "anthropic": anthropic("ContentTooLargeError"),  # RequestTooLargeError in 0.121
        },
    ),
    (
        422,
        {
            "openai": openai("UnprocessableEntityError"),
            "responses": openai("UnprocessableEntityError"),
            "anthropic": anthropic("UnprocessableEntityError"),
        },
    ),
    (424, {"bedrock": bedrock("ModelErrorException")}),
    (
        429,
        {
            "openai": openai("RateLimitError", 3),
            "responses": openai("RateLimitError", 3),
            "anthropic": anthropic("RateLimitError", 3),
            "gemini": gemini("ClientError", "429 RESOURCE_EXHAUSTED"),
            "ollama": Told("ollama.ResponseError: "),
            # boto3 1.43 asked 5 times; 1.44 is in the mode standard by itself.
            "bedrock": bedrock("ThrottlingException", 3),
        },
    ),
    (
        500,
        {
            "openai": openai("InternalServerError", 3),
            "responses": openai("InternalServerError", 3),
            "anthropic": anthropic("InternalServerError", 3),
            "gemini": gemini("ServerError", "500 INTERNAL"),
            "ollama": Told("ollama.ResponseError: "),
            "bedrock": bedrock("InternalServerException", 3),
        },
    ),
    (
        503,
        {
            "openai": openai("InternalServerError", 3),
            "responses": openai("InternalServerError", 3),
            "anthropic": anthropic("ServiceUnavailableError", 3),
            "gemini": gemini("ServerError", "503 UNAVAILABLE"),
            "ollama": Told("ollama.ResponseError: server busy"),
            "bedrock": bedrock("ServiceUnavailableException", 3),
        },
    ),
    (
        504,
        {
            "openai": openai("InternalServerError", 3),
            "responses": openai("InternalServerError", 3),
            "anthropic": anthropic("GatewayTimeoutError", 3),
            "gemini": gemini("ServerError", "504 DEADLINE_EXCEEDED"),
        },
    ),
    (
        529,
        {
            "openai": openai("InternalServerError", 3),
            "responses": openai("InternalServerError", 3),
            "anthropic": anthropic("OverloadedError", 3),
        },
    ),
]


def statuses():
    for status, told in STATUSES:
        for way in WAYS:
            dialect = way.partition(" ")[0]
            if dialect in told:
                yield pytest.param(status, way, told[dialect], id=f"{status}: {way}")


@pytest.mark.parametrize(("status", "way", "told"), list(statuses()))
def test_status(play, naps, status, way, told):
    session = play(f"- status: {status}")
    got, failed, error = ask(session, way)
    assert failed and failed.startswith(told.error)
    if way.startswith(("openai", "responses", "anthropic")):
        assert error.status_code == status
        if not (way.startswith("anthropic") and status == 401):  # where the API has none
            assert error.request_id.startswith("req_")
    session.close()
    attempts = [detail.split()[-2] for detail in session.details("request")]
    if way.startswith(("gemini", "ollama")):
        assert attempts == ["attempt=0"]  # they do not say
    else:
        assert attempts == [f"attempt={n}" for n in range(1, told.requests + 1)]
    assert len(naps) == told.requests - 1


# The whole error object is the caller's to read.
def test_words_of_errors(play, naps):
    _, _, error = ask(play("- status: 429"), "openai whole")
    assert (error.type, error.code, error.param) == ("requests", "rate_limit_exceeded", None)
    _, _, error = ask(play("- status: 429"), "responses whole")
    assert error.code == "rate_limit_exceeded"
    _, _, error = ask(play("- status: 529"), "anthropic whole")
    assert error.type == "overloaded_error"
    _, _, error = ask(play("- status: 429"), "gemini whole")
    assert (error.code, error.status) == (429, "RESOURCE_EXHAUSTED")
    _, _, error = ask(play("- status: 404"), "ollama whole")
    assert error.status_code == 404
    _, _, error = ask(play("- status: 429"), "bedrock whole")
    assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 429


@dataclasses.dataclass
class Patience:
    name: str
    status: str  # of the first answer; the next is well
    naps: dict  # by dialect: how long it sleeps, as a range; None when it does not ask again


FIRST = (0.375, 0.5)  # the back-off of OpenAI's and Anthropic's SDKs
PATIENCE = [
    Patience("seconds are kept to", "{code: 429, header: {Retry-After: 3}}", {"openai": (3, 3), "anthropic": (3, 3)}),
    Patience("no wait is no answer", "{code: 429, header: {Retry-After: 0}}", {"openai": FIRST, "anthropic": FIRST}),
    # anthropic 0.121 kept to a minute at most.
    Patience("a minute", "{code: 429, header: {Retry-After: 61}}", {"openai": (61, 61), "anthropic": (61, 61)}),
    Patience("two minutes", "{code: 429, header: {Retry-After: 121}}", {"openai": None, "anthropic": (121, 121)}),
    Patience("milliseconds", "{code: 503, header: {Retry-After-Ms: 250}}", {"openai": (0.25, 0.25), "anthropic": (0.25, 0.25)}),
    Patience("no number", "{code: 503, header: {Retry-After: soon}}", {"openai": FIRST, "anthropic": FIRST}),
    Patience("a status that is not worth it, but is said to be", "{code: 400, header: {X-Should-Retry: 'true'}}", {"openai": FIRST, "anthropic": FIRST, "bedrock": None}),
    Patience("a status that is worth it, but is said not to be", "{code: 503, header: {X-Should-Retry: 'false'}}", {"openai": None, "anthropic": None, "bedrock": (0, 1)}),
    Patience("an empty body", "{code: 500, blank: true}", {"openai": FIRST, "anthropic": FIRST, "bedrock": (0, 1)}),
    Patience(
        "a page of a gateway",
        "{code: 502, content-type: text/html, body: '<html>Bad Gateway</html>'}",
        {"openai": FIRST, "anthropic": FIRST, "bedrock": (0, 1), "gemini": None, "ollama": None},
    ),
    Patience("google's SDK asks once unless told otherwise", "503", {"gemini": None}),
    Patience("ollama's SDK asks once", "503", {"ollama": None}),
]


@pytest.mark.parametrize("how", ["whole", "stream"])
@pytest.mark.parametrize(
    ("patience", "dialect"),
    [pytest.param(p, dialect, id=f"{p.name}: {dialect}") for p in PATIENCE for dialect in p.naps],
)
def test_patience(play, naps, patience, dialect, how):
    again = patience.naps[dialect] is not None
    well = """
        - times: 1
          steps:
            - text: well
            - finish: stop
            - usage: {prompt: 1, completion: 1}
            - done
            - end
    """
    session = play(f"programs:\n        - steps: [{{status: {patience.status}}}]" + (well if again else ""))
    got, failed, _ = ask(session, f"{dialect} {how}")
    assert (failed is None) == again
    assert got.text == ("well" if again else "")
    assert len(naps) == again
    if again:
        least, most = patience.naps[dialect]
        assert least <= naps[0] <= most
    session.close()


def test_google_asks_again_when_told(play, naps):
    import google.genai.types

    session = play("- status: 503")
    options = google.genai.types.HttpRetryOptions(attempts=3)
    _, failed, _ = ask(session, "gemini whole", retry_options=options)
    assert failed.startswith("google.ServerError: 503")
    session.close()
    assert session.kinds().count("request") == 3
    assert len(naps) == 2


# A connection that ends before any byte is asked for again by those that ask again at all.
@pytest.mark.parametrize("fault", ["cut", "reset"])
@pytest.mark.parametrize("way", WAYS)
def test_lost_before_any_byte(play, naps, way, fault):
    session = play(f"- {fault}")
    got, failed, _ = ask(session, way)
    session.close()
    if way.startswith(("gemini", "ollama")):
        library = "httpx2" if way.startswith("gemini") else "httpx"
        lost = {"cut": "RemoteProtocolError: Server disconnected without sending a response.", "reset": "ReadError: [Errno 104]"}
        assert failed.startswith(f"{library}.{lost[fault]}")
        requests = 1
    else:
        assert failed.startswith(
            (
                "openai.APIConnectionError: Connection error.",
                "anthropic.APIConnectionError: Connection error.",
                "botocore.ConnectionClosedError: Connection was closed before we received a valid response",
            )
        )
        requests = 3
    assert session.kinds().count("request") == requests
    assert session.kinds().count(fault) == requests


# A body in one piece is read inside of the attempt: losing it is worth another.
@pytest.mark.parametrize(
    ("way", "error", "requests"),
    [
        ("openai whole", "openai.APIConnectionError: Connection error.", 3),
        ("responses whole", "openai.APIConnectionError: Connection error.", 3),
        ("anthropic whole", "anthropic.APIConnectionError: Connection error.", 3),
        ("gemini whole", "httpx2.RemoteProtocolError: peer closed connection", 1),
        ("ollama whole", "httpx.RemoteProtocolError: peer closed connection", 1),
        ("bedrock whole", "botocore.ConnectionClosedError: Connection was closed", 3),
    ],
)
def test_lost_in_a_body(play, naps, way, error, requests):
    session = play(
        """
        - headers
        - text: half an answer
        - finish: stop
        - cut
        """
    )
    _, failed, _ = ask(session, way)
    assert failed.startswith(error)
    session.close()
    assert session.kinds().count("cut") == requests


# A body in one piece that is no answer, in spite of its status.
NOT_AN_ANSWER = {
    "an error object": (
        "- error: {type: server_error, message: oops}",
        {
            "openai": "builtins.TypeError",  # of the caller, who looks for a choice in it: the SDK has not looked
            "responses": "builtins.TypeError",
            "anthropic": "builtins.TypeError",
            "gemini": None,  # an answer with nothing in it
            "ollama": "pydantic_core.ValidationError",
            "bedrock": "builtins.KeyError",
        },
    ),
    "nothing": (
        "- status: {code: 200, blank: true}",
        {
            "openai": "json.JSONDecodeError",
            "responses": "json.JSONDecodeError",
            "anthropic": "json.JSONDecodeError",
            "gemini": None,
            "ollama": "json.JSONDecodeError",
            "bedrock": "builtins.KeyError",
        },
    ),
    "a page": (
        "- status: {code: 200, content-type: text/html, body: '<html></html>'}",
        {
            "openai": "builtins.AttributeError",  # the SDK hands out the page as a string
            "responses": "builtins.AttributeError",
            "anthropic": "builtins.AttributeError",
            "gemini": "json.JSONDecodeError",
            "ollama": "json.JSONDecodeError",
            "bedrock": "builtins.KeyError",
        },
    ),
    "JSON without its last brace": (
        """
        - garble: brace
        - text: hello
        - finish: stop
        - done
        - end
        """,
        {
            "openai": "json.JSONDecodeError",
            "responses": "json.JSONDecodeError",
            "anthropic": "json.JSONDecodeError",
            "gemini": "json.JSONDecodeError",
            "ollama": "json.JSONDecodeError",
            "bedrock": "builtins.KeyError",
        },
    ),
}


@pytest.mark.parametrize(
    ("script", "dialect", "error"),
    [
        pytest.param(script, dialect, error, id=f"{name}: {dialect}")
        for name, (script, errors) in NOT_AN_ANSWER.items()
        for dialect, error in errors.items()
    ],
)
def test_not_an_answer(play, naps, script, dialect, error):
    session = play(script)
    got, failed, _ = ask(session, f"{dialect} whole")
    session.close()
    assert failed is None if error is None else failed.startswith(error)
    assert got.text == ""
    assert session.kinds().count("request") == 1
