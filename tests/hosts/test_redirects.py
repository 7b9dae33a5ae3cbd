"""Contract of every host of a service: another address gets no request, whatever the service replies."""

from __future__ import annotations

import threading

import pytest
import requests
import urllib3

from pytest_evalstudio.contrib.guard.client import GuardClient, GuardError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.hosts import openai_rag
from pytest_evalstudio.hosts._redirects import redirect_fault, refused_redirects
from support.children import LONGEST_WAIT_S
from support.host_uses import USES, faulty, kinds_of_requests, performed, refuse_handshake
from support.protocols import PROTOCOLS
from support.sampling import sampled_for
from support.service import Response, running

pytestmark = pytest.mark.slow

STATUSES = (301, 302, 303, 307, 308)
USUAL = (302, 307)
"""For each use of a host; the others for some of them, since clients treat them as one of these two."""

OF_OTHER_TESTS = {"mcp"}
"""Hosts that call tools and answer no question: test_mcp.py tests their redirects."""


def test_every_host_with_a_client_is_in_the_contract():
    hosts = Registry().hosts
    assert {id for id in hosts if hosts.spec(id).client} - OF_OTHER_TESTS == {
        protocol.id for protocol in PROTOCOLS
    }


@pytest.fixture(autouse=True)
def short_polls(monkeypatch):
    monkeypatch.setattr(openai_rag, "POLL_S", 0.01)


@pytest.mark.parametrize(
    ("use", "status"),
    [
        pytest.param(use, status, id=f"{use.id.replace(' ', '-')}-{status}")
        for use in USES
        for status in STATUSES
        if status in USUAL or status in sampled_for(use.id, STATUSES, 5)
    ],
)
def test_a_redirect_of_any_request_reaches_no_other_address(use, status, tmp_path):
    for kind in kinds_of_requests(use, tmp_path):
        with running(lambda request: Response({})) as other:

            def redirect(request, reply, other=other):
                return Response(status=status, headers={"Location": f"{other.url}{request.path}"})

            with faulty(use, kind, redirect) as service:
                if kind.startswith("WS"):
                    location = {"Location": f"{other.url}/ws?token=leaked"}
                    refuse_handshake(service, Response(status=status, headers=location))
                outcome = performed(use, service.url, tmp_path)
        assert other.requests == [], kind
        reported = [fault for fault in outcome.faults if "redirects to" in fault]
        assert reported or "delete" in kind.lower(), f"{kind}: {outcome}"
        for message in reported:
            assert f"{service.url}" in message
            assert f"redirects to {other.url}, which gets no request" in message
            assert "set its address as url" in message


def test_redirects_are_refused_in_their_context_only():
    with running(lambda request: Response({"moved": False})) as other:
        location = {"Location": other.url}
        with running(lambda request: Response(status=307, headers=location)) as service:

            def follow():
                assert requests.post(service.url, data="x", timeout=LONGEST_WAIT_S).json() == {"moved": False}
                assert urllib3.request("POST", service.url, body=b"x").status == 200

            follow()
            with refused_redirects(service.url):
                for ask in (
                    lambda: requests.put(service.url, files={"f": b"document"}, timeout=LONGEST_WAIT_S),
                    lambda: urllib3.request("POST", service.url, body=b"x"),
                ):
                    with pytest.raises(HostFault, match="which gets no request"):
                        ask()
                assert len(other.requests) == 2
                thread = threading.Thread(target=follow)
                thread.start()
                thread.join()
            follow()
    assert len(other.requests) == 6


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://me:secret@other.example:8443/login?token=t", "redirects to https://other.example:8443,"),
        ("//[::1]/x", "redirects to https://[::1],"),
        ("/v2/ask?token=t", "redirects to another path of the same address,"),
        ("http://[", "redirects to an address without a host,"),
    ],
)
def test_the_message_has_neither_query_nor_user(location, target):
    message = str(redirect_fault("https://service.example", location))
    assert target in message
    assert "secret" not in message
    assert "token" not in message


@pytest.mark.parametrize("status", STATUSES)
def test_the_client_of_the_guard_follows_no_redirect(status):
    with running(lambda request: Response({})) as other:
        location = {"Location": f"{other.url}/v1/check"}
        with (
            running(lambda request: Response(status=status, headers=location)) as service,
            GuardClient(service.url, token="secret", retries=0) as client,
            pytest.raises(GuardError),
        ):
            client.check("question", "answer")
    assert other.requests == []
