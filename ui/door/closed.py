"""What nobody outside needs to know of the server."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

CLOSED = ("/_stcore/metrics", "/_stcore/script-health-check", "/_stcore/agent")


class Closed:
    """ASGI: 404 for what only tells of the server: how many sessions it has, how much memory, which pages."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_closed(scope["path"]):
            await PlainTextResponse("Not Found", status_code=404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def is_closed(path: str) -> bool:
    """Whether nobody outside may have it, however the path is written."""
    plain = "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
    return plain.lower().startswith(CLOSED)
