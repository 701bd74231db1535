"""Who may speak to the page: a browser that has the token, from the page itself, in small pieces.

A web site that a person has open elsewhere must be able to do nothing here: Host is checked (so that no name
of its own can be made to lead here), Origin is checked for all that changes something, and the cookie is sent
by this site alone. Every refusal is a line in the log.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from clustruct.core.formatting import harmless

log = logging.getLogger("clustruct.studio")

COOKIE = "clustruct"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
READING = ("GET", "HEAD")
# What a page may hold in one request, and what a file may.
MOST_JSON, MOST_UPLOAD = 2**20, 64 * 2**20
UPLOAD_PATH = "/api/upload"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


# The status and the reason of what is refused.
Refusal: TypeAlias = tuple[int, str]


@dataclass(frozen=True)
class Policy:
    """What is let in.

    port : of the server; hosts : names it may be called by, beside those of the loopback address
    any_address : whether it may be called by any address in numbers, which no web site can claim as its name
    token : what the opened address must have, once
    """

    port: int
    hosts: tuple[str, ...] = ()
    any_address: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    most_upload: int = MOST_UPLOAD

    def is_host(self, host: str) -> bool:
        """Whether a Host header means this server.

        >>> policy = Policy(8000)
        >>> policy.is_host("localhost:8000"), policy.is_host("evil.example:8000"), policy.is_host("localhost")
        (True, False, False)
        """
        name, colon, port = host.rpartition(":")
        if not colon or port != str(self.port):
            return False
        return name.lower() in (*LOOPBACK, *self.hosts) or (self.any_address and _is_address(name))

    def is_token(self, given: str) -> bool:
        """Whether it is the token, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def refusal(self, method: str, path: str, headers: dict[str, str]) -> Refusal | None:
        """What is wrong with a request, before anything of it is looked at."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.is_host(host):
            return 421, f"Host is {host!r:.80}"
        if origin is not None and origin != f"http://{host}":
            return 403, f"Origin is {origin!r:.80}"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "asked for by another site"
        if method not in READING and origin is None:
            return 403, "a change without Origin"
        if method not in READING and method != "POST":
            return 405, "no such method"
        return self._size_refusal(path, headers) if method == "POST" else None

    def most_bytes(self, path: str) -> int:
        """How much one request may hold."""
        return self.most_upload if path == UPLOAD_PATH else MOST_JSON

    def _size_refusal(self, path: str, headers: dict[str, str]) -> Refusal | None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        wanted = "application/octet-stream" if path == UPLOAD_PATH else "application/json"
        if kind != wanted:
            return 415, f"Content-Type is {kind!r:.60}, not {wanted}"
        size = headers.get("content-length", "")
        if not (size.isascii() and size.isdecimal()):
            return 411, "no Content-Length"
        if int(size[:20]) > self.most_bytes(path):
            return 413, f"{size:.20} bytes, more than {self.most_bytes(path):,}"
        return None

    def has_cookie(self, headers: dict[str, str]) -> bool:
        """Whether the browser has shown the token before."""
        try:
            held = SimpleCookie(headers.get("cookie", "")).get(f"{COOKIE}_{self.port}")
        except CookieError:
            return False
        return held is not None and self.is_token(held.value)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """An application that receives only what its policy lets in, and says to browsers what pages may do."""

    def __init__(self, app: Any, policy: Policy) -> None:
        self.app, self.policy = app, policy

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            log.warning("refused: a %s connection", scope["type"])
            return
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self.policy.refusal(scope["method"], scope["path"], headers)
        if refusal is None and not self.policy.has_cookie(headers):
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if scope["method"] == "GET" and given and self.policy.is_token(given):
                await self._let_in(scope, send)
                return
            refusal = 403, "a wrong token" if given else "no token"
        if refusal is not None:
            await self.refuse(scope, send, refusal)
            return
        await self.app(
            scope, _limit_bytes(receive, self.policy.most_bytes(scope["path"])), _with_headers(send)
        )

    async def _let_in(self, scope: Any, send: Any) -> None:
        """Give the cookie, and leave the token out of the address."""
        name = f"{COOKIE}_{self.policy.port}"
        cookie = f"{name}={self.policy.token}; HttpOnly; SameSite=Strict; Path=/"
        await _answer(send, 303, b"", [("set-cookie", cookie), ("location", scope["path"])])

    async def refuse(self, scope: Any, send: Any, refusal: Refusal) -> None:
        """Answer with the reason, and write it down."""
        status, reason = refusal
        client = (scope.get("client") or ("?",))[0]
        asked = harmless(f"{scope['method']} {scope['path']}")[:120]
        log.warning("refused: %s from %s: %s", asked, client, harmless(reason))
        text = f"Refused: {reason}. Open the address that clustruct studio has printed.\n"
        await _answer(send, status, text.encode("utf-8", "replace"), [("connection", "close")])


class TooLarge(Exception):
    """More came than was said."""


def _limit_bytes(receive: Any, most: int) -> Any:
    """What comes in, up to so many bytes, whatever was said of its length."""
    seen = 0

    async def inner() -> Any:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            log.warning("refused: more than %s bytes came", f"{most:,}")
            raise TooLarge
        return message

    return inner


def _with_headers(send: Any) -> Any:
    async def inner(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *_encode(HEADERS.items())]}
        await send(message)

    return inner


def _encode(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def _answer(send: Any, status: int, body: bytes, more: list[tuple[str, str]]) -> None:
    headers = [("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(body)))]
    listed = _encode([*headers, *HEADERS.items(), *more])
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
