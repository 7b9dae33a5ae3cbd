"""Documents of existing collections at configured services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pytest_evalstudio.asking.checking import opened_by_name, settings_by_name
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.plugins.host import CollectionDocument, HostFault, ReadsCollections
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration

SCHEME = "collection://"
FORM = "collection://NAME/ID"
_REMEDY = f"give {FORM} with the id of the collection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """An existing collection at a service of the configuration.

    Attributes:
        connection: name of the connection or model that reaches it.
        host: id of the host.
        option: parameter of the host with the id of a collection.
        id: of the collection at the service.
        url: of the service as it is configured, "" for the host's default.
    """

    connection: str
    host: str
    option: str
    id: str
    url: str

    @property
    def location(self) -> str:
        """Return the collection as a document of a workflow."""
        return f"{SCHEME}{self.connection}/{self.id}"


def is_collection(document: str) -> bool:
    """Return whether a document is a collection.

    >>> is_collection("collection://support/7f2c1d4e"), is_collection("https://example.com/a.md")
    (True, False)
    """
    return document.lower().startswith(SCHEME)


def find_collection(config: Configuration, document: str, registry: Registry) -> Collection:
    """Return the collection that a document names, without a request.

    Args:
        document: "collection://NAME/ID", or "collection://NAME" for the collection of a model that names one.

    Raises:
        ConfigurationError: if there is no such connection or model, its host cannot return the texts of a
            collection, or no id is given.
    """
    name, id = _parts(config, document[len(SCHEME) :])
    settings = settings_by_name(config, name)
    host = str(settings.get("host") or "")
    option = registry.hosts.spec(host).collection_option
    if not option:
        hosts = [other for other in registry.hosts if registry.hosts.spec(other).collection_option]
        fact = f"{name!r}: host {host!r} does not return the texts of a collection"
        raise ConfigurationError(
            f"{fact}; give the documents as files or URLs, or use a host of {', '.join(hosts)}"
        )
    if not id:  # a connection and a model may share a name, and only the model names a collection
        models = (table.settings for table in config.model if table.name == name)
        id = next((str(model[option]) for model in models if model.get(option)), "")
    if not id:
        raise ConfigurationError(f"{document}: {name!r} names no collection; {_REMEDY}")
    if "${" in id:
        raise ConfigurationError(f"{document}: {option} is taken from the environment; {_REMEDY}")
    return Collection(connection=name, host=host, option=option, id=id, url=str(settings.get("url") or ""))


def documents_of(
    config: Configuration, collection: Collection, registry: Registry
) -> Sequence[CollectionDocument]:
    """Return the documents of a collection, as the service has them now.

    Raises:
        ConfigurationError: if the host cannot be opened.
        EvaluationError: if the service does not return them.
    """
    with opened_by_name(config, collection.connection, registry) as session:
        host = cast(ReadsCollections, session.host)
        try:
            return session.within_limits(
                lambda: host.documents(collection.id), ingest_timeout_s=host.ingest_timeout_s
            )
        except HostFault as fault:
            raise EvaluationError(f"{collection.location}: {session.mask(str(fault))}") from None


def _parts(config: Configuration, text: str) -> tuple[str, str]:
    """Return the name of a connection or model, which may contain slashes, and the id of a collection."""
    names = {*config.connection, *(table.name for table in config.model)}
    name, _, id = text.rpartition("/")
    return (text, "") if text in names or not name else (name, id)
