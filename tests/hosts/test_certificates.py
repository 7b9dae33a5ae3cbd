"""A service with a self-signed certificate, by TLS connections: all hosts say what to do, and it helps."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.host_uses import USES, HostUse, performed
from support.service import Service, running

DATA = Path(__file__).parents[1] / "data" / "tls"
CERTIFICATE = DATA / "certificate.pem"
by_use = pytest.mark.parametrize("use", USES, ids=lambda use: use.id)


@pytest.fixture
def secured(use: HostUse) -> Iterator[Service]:
    """The service of a host behind a self-signed certificate for this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, DATA / "key.pem")
    # A client that reads and sends in two threads, as that of WebSockets does, can hang at a ticket.
    context.num_tickets = 0
    with running(use.respond(), use.protocol.asks, use.handler, context) as service:
        yield service


@by_use
def test_a_certificate_that_is_not_trusted_is_named_with_the_remedy(
    use: HostUse, secured: Service, tmp_path: Path
) -> None:
    outcome = performed(use, secured.url, tmp_path)
    assert outcome.error
    for fault in outcome.faults:
        assert "certificate" in fault
        assert "ca_file" in fault


@pytest.mark.slow
@by_use
@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize(
    "settings", [{"ca_file": str(CERTIFICATE)}, {"verify_tls": False}], ids=["authority", "unchecked"]
)
def test_the_remedies_help(
    use: HostUse, secured: Service, tmp_path: Path, settings: dict[str, object]
) -> None:
    outcome = performed(use, secured.url, tmp_path, **settings)
    assert outcome.faults == []
    assert outcome.answer
