"""Clients of Amazon Bedrock: credentials, calls in threads, and faults."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._connected import Connected, check_url, require_package
from pytest_evalstudio.hosts._faults import host_fault_in, quoted, status_fault
from pytest_evalstudio.hosts._malformed import CHECK_REPLY, connection_fault, reply_fault
from pytest_evalstudio.hosts._redirects import refused_redirects
from pytest_evalstudio.hosts._threads import in_thread
from pytest_evalstudio.hosts._tools import HostTools

REMEDIES: Mapping[int, str] = {
    400: "check llm_model_name and the configurations",
    401: "check the credentials",
    403: "check the credentials, and that they may use this model",
    404: "check llm_model_name, knowledge_base_id and region",
}
_REMEDIES_OF_SERVICE: Mapping[str, Mapping[int, str]] = {
    "bedrock-agent": {
        403: "check the credentials, and that they may list the documents of a knowledge base",
        404: "check knowledge_base_id and region",
    },
    "s3": {
        403: "check the credentials, and that they may read this object",
        404: "the document was removed; synchronise the knowledge base",
    },
}
"""Remedies of services that are not asked questions, before `REMEDIES`."""
_READ_ATTEMPTS = 4
"""Attempts of each of their requests: there may be thousands, and the engine does not repeat them."""
_THROTTLING = (
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "ServiceQuotaExceededException",
)
_CONNECTIONS = 64  # the default of botocore, 10, would queue requests below the limit of concurrency
T = TypeVar("T")


@dataclass(kw_only=True)
class Bedrock(Connected):
    """An account with Amazon Bedrock.

    Attributes:
        region: of the service; "" for that of boto3's usual chain.
        access_key, secret_key, session_token: credentials; without them boto3's usual chain finds them
            (environment, profile, role).
        profile: name of a profile of the AWS configuration.
        url: endpoint in place of the region's own, e.g. of a private network.
    """

    llm_model_name: str
    region: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    session_token: str = field(default="", repr=False)
    profile: str = ""
    url: str = ""
    _clients: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _opening: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _timeout_s: float = field(default=120.0, init=False, repr=False)

    def open_account(self, host: str, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if boto3 is not installed, or a parameter cannot be right.
        """
        self._timeout_s = tools.timeout_s
        require_package(host, "boto3", "bedrock")
        self.check_connection(tools)
        if self.url:
            check_url("url", self.url)
        if bool(self.access_key) != bool(self.secret_key):
            raise ConfigurationError("access_key and secret_key: give both or none")

    async def call(self, service: str, work: Callable[[Any], T]) -> T:
        """Return the result of a call of a client, which blocks and therefore runs in a thread.

        Args:
            service: name of the client, e.g. "bedrock-runtime".
            work: makes the call.

        Raises:
            HostFault: if the call fails.
            ConfigurationError: if there is no such client.
        """
        try:
            result: T = await in_thread(lambda: self._without_redirects(service, work))
            return result
        except (ConfigurationError, HostFault):
            raise
        except Exception as exc:
            raise self._fault(exc, service) from exc

    @property
    def place(self) -> str:
        """Return the address of the service, for messages."""
        return self.url or "Amazon Bedrock"

    def without_answer(self) -> HostFault:
        """Return the fault of a reply without an answer.

        The client returns a reply that is not JSON, or half of one, as an empty reply.
        """
        return HostFault(f"{self.place} sent a reply without an answer; {CHECK_REPLY}", retry=True)

    async def models(self) -> list[str]:
        """Return the ids of the foundation models of the region."""

        def ids(client: Any) -> list[str]:
            reply = client.list_foundation_models()
            return [str(model["modelId"]) for model in reply.get("modelSummaries", ())]

        return await self.call("bedrock", ids)

    async def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _without_redirects(self, service: str, work: Callable[[Any], T]) -> T:
        with refused_redirects(self._place_of(service)):
            return work(self._client(service))

    def _client(self, service: str) -> Any:
        with self._opening:
            if service not in self._clients:
                self._clients[service] = self._new_client(service)
            return self._clients[service]

    def _new_client(self, service: str) -> Any:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import NoRegionError, ProfileNotFound

        config = Config(
            retries={"total_max_attempts": _READ_ATTEMPTS if service in _REMEDIES_OF_SERVICE else 1},
            read_timeout=self._timeout_s,
            connect_timeout=min(self._timeout_s, 60),
            max_pool_connections=_CONNECTIONS,
            proxies={"http": self.proxy, "https": self.proxy} if self.proxy else None,
        )
        try:
            session = boto3.Session(
                aws_access_key_id=self.access_key or None,
                aws_secret_access_key=self.secret_key or None,
                aws_session_token=self.session_token or None,
                region_name=self.region or None,
                profile_name=self.profile or None,
            )
            # The endpoint of Bedrock has no objects; boto3 takes another one of S3 from AWS_ENDPOINT_URL_S3.
            endpoint = None if service == "s3" else self.url or None
            return session.client(service, endpoint_url=endpoint, config=config, verify=self.verification)
        except NoRegionError:
            raise ConfigurationError(
                "no region is configured: set region, or export AWS_DEFAULT_REGION"
            ) from None
        except ProfileNotFound as exc:
            raise ConfigurationError(f"profile = {self.profile!r}: {exc}") from None

    def _place_of(self, service: str) -> str:
        return "Amazon S3" if service == "s3" else self.place

    def _fault(self, exc: Exception, service: str) -> HostFault:
        from botocore import exceptions

        if (fault := host_fault_in(exc)) is not None:
            return fault
        place, reason = self._place_of(service), quoted(str(exc), self._mask)
        if isinstance(exc, exceptions.ClientError):
            error, head = exc.response.get("Error", {}), exc.response.get("ResponseMetadata", {})
            status = int(head.get("HTTPStatusCode") or 500)
            code = str(error.get("Code", ""))
            text = quoted(f"{code}: {error.get('Message', '')}", self._mask)
            status = 429 if code in _THROTTLING else status
            headers = head.get("HTTPHeaders", {})
            remedies = {**REMEDIES, **_REMEDIES_OF_SERVICE.get(service, {})}
            return status_fault(status, text, remedies, headers, url=place)
        if isinstance(exc, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
            remedy = "set access_key and secret_key, or configure them as boto3 expects"
            return HostFault(f"no credentials of AWS: {reason}; {remedy}", ends_asking=True)
        if isinstance(exc, exceptions.ParamValidationError):
            return HostFault(f"{reason}; check the configurations")
        if isinstance(exc, exceptions.HTTPClientError | exceptions.ConnectionError):
            return connection_fault(place, exc, self._mask)
        if isinstance(exc, OSError):
            return connection_fault(place, exc, self._mask)
        return reply_fault(place, exc, self._mask, retry=True)


def request_id(reply: Mapping[str, Any]) -> str:
    """Return the id of the request that a reply belongs to."""
    return str(reply.get("ResponseMetadata", {}).get("RequestId", ""))
