"""Blocks Streamlit's internal status endpoints."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

CLOSED = ("/_stcore/metrics", "/_stcore/script-health-check", "/_stcore/agent")


class Closed:
    """ASGI middleware: 404 for endpoints that reveal server internals: number of sessions, memory, pages."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_closed(scope["path"]):
            await PlainTextResponse("Not Found", status_code=404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def is_closed(path: str) -> bool:
    """Whether the path, once normalised, is one of the blocked endpoints."""
    plain = "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
    return plain.lower().startswith(CLOSED)
