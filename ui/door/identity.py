"""Identifies visitors by a cookie of our own, `HttpOnly`, so that no script of a page can read it."""

import re
import secrets
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "minibert_visitor"
_BYTES = 32
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # as secrets.token_urlsafe writes so many bytes
_SECONDS = 400 * 24 * 3600  # the maximum browsers allow: a lost cookie means lost runs


class Identity:
    """ASGI middleware: sets a random cookie in every browser that opens a page without one.

    Only HTML responses set it: a browser requests a page's other files in parallel and would get several cookies.
    Behind TLS the cookie is `Secure`. uvicorn takes the scheme from X-Forwarded-Proto if the proxy runs on this machine
    or is listed in FORWARDED_ALLOW_IPS.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or token_in(Headers(scope=scope).get("cookie", "")):
            await self.app(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", cookie_header(scope["scheme"] == "https"))
                    headers["cache-control"] = "no-store"  # no cache may serve one visitor's cookie to another
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def cookie_header(secure: bool) -> str:
    cookie = f"{COOKIE}={secrets.token_urlsafe(_BYTES)}; Max-Age={_SECONDS}; Path=/; HttpOnly; SameSite=Lax"
    return cookie + "; Secure" if secure else cookie


def token_in(header: str) -> str | None:
    """The visitor token in a Cookie header; None if missing or malformed."""
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return None
    return valid_token(morsel.value) if morsel else None


def valid_token(token: object) -> str | None:
    """The token if it is well-formed, else None. (Page tests without a server pass mocks instead of cookies.)"""
    return token if isinstance(token, str) and _TOKEN.fullmatch(token) else None
