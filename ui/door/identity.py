"""Who a visitor is: a cookie of our own, which no script of a page can read."""

import re
import secrets
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "minibert_visitor"
_BYTES = 32
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # as secrets.token_urlsafe writes so many bytes
_SECONDS = 400 * 24 * 3600  # the longest that browsers keep one: runs belong to it


class Identity:
    """ASGI: gives every browser that opens a page without one a random cookie.

    Only with the page itself, not with what it loads: a browser asks for these all at once, and would get many.
    Behind TLS the cookie is `Secure`. That a proxy speaks TLS is told by X-Forwarded-Proto, which uvicorn believes of a
    proxy on this machine, or of those that FORWARDED_ALLOW_IPS names.
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
                    headers.append("set-cookie", written(scope["scheme"] == "https"))
                    headers["cache-control"] = "no-store"  # no cache may give one visitor's to another
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def written(secure: bool) -> str:
    cookie = f"{COOKIE}={secrets.token_urlsafe(_BYTES)}; Max-Age={_SECONDS}; Path=/; HttpOnly; SameSite=Lax"
    return cookie + "; Secure" if secure else cookie


def token_in(header: str) -> str | None:
    """The token in a Cookie header, if there is one and it has the form of ours."""
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return None
    return valid(morsel.value) if morsel else None


def valid(token: object) -> str | None:
    """The token if it has the form of ours. (A test that runs a page without a server has no cookies, but mocks.)"""
    return token if isinstance(token, str) and _TOKEN.fullmatch(token) else None
