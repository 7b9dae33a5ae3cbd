"""Images and files that a host cannot take."""

from __future__ import annotations

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.plugins.host import HostSpec
from pytest_evalstudio.core.plugins.registry import Registry


def unsupported_message(spec: HostSpec, registry: Registry, attachment: Attachment) -> str:
    """Return what a host cannot take, and the hosts that can."""
    kind = "images" if attachment.is_image else "files"
    takes_others = any(attachment.media_type[:6] == media_type[:6] for media_type in spec.media_types)
    subject = f"{kind} of the type {attachment.media_type}" if takes_others else kind
    able = [other.id for other in registry.hosts.specs() if attachment.media_type in other.media_types]
    return (
        f"host {spec.id!r} takes no {subject}, and the question comes with {attachment.name}; use one of the"
        f" hosts {', '.join(able)}"
    )
