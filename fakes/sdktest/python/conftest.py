"""Fixtures: one fake for the whole run, a session for each test, and no way to any other machine."""

import itertools
import os
import socket
import time

import pytest

from fake import Fake, Session


@pytest.fixture(scope="session", autouse=True)
def only_loopback():
    """Connections to other machines fail, whichever library makes them."""
    connect = socket.socket.connect

    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
            raise AssertionError(f"a test reaches beyond loopback: {address}")
        return connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(scope="session")
def fake(only_loopback):
    fake = Fake(os.environ["STALLWRIGHT"])
    yield fake
    assert fake.call("GET", "health") == {"status": "ok", "sessions": 1, "strays": 0}
    fake.close()


numbers = itertools.count(1)


@pytest.fixture
def play(fake):
    """Begins a session with a script; it is ended with the test unless that has ended it."""
    sessions = []

    def begin(script):
        sessions.append(Session(fake, f"py-{next(numbers)}", script))
        return sessions[-1]

    yield begin
    for session in sessions:
        if session.events is None:
            session.close()


@pytest.fixture
def naps(monkeypatch):
    """How long clients meant to sleep before they came again. They do not: the tests have no time for it."""
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept
