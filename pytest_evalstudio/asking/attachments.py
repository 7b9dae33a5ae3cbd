"""Images and files that a host cannot take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.plugins.host import HostSpec
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.text.figures import counted


def unsupported_message(spec: HostSpec, registry: Registry, attachment: Attachment) -> str:
    """Return what a host cannot take, and the hosts that can."""
    kind = "images" if attachment.is_image else "files"
    takes_others = any(attachment.media_type[:6] == media_type[:6] for media_type in spec.media_types)
    subject = f"{kind} of the type {attachment.media_type}" if takes_others else kind
    capable = [other.id for other in registry.hosts.specs() if attachment.media_type in other.media_types]
    return (
        f"host {spec.id!r} takes no {subject}, and the question comes with {attachment.name}; use one of the"
        f" hosts {', '.join(capable)}"
    )


def unsupported_attachments(
    config: Configuration, registry: Registry, cases: Sequence[Case]
) -> Iterator[str]:
    """Yield a line for each configured model whose host cannot take an image or file of some cases."""
    for table in config.model:
        if table.host not in registry.hosts:
            continue
        spec = registry.hosts.spec(table.host)
        refused = [
            next(each for each in case.all_media if each.media_type not in spec.media_types)
            for case in cases
            if any(each.media_type not in spec.media_types for each in case.all_media)
        ]
        if refused:
            fact = unsupported_message(spec, registry, refused[0])
            yield f"model {table.name!r} cannot be asked {counted(len(refused), 'test case')}: {fact}"
