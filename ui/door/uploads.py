"""Uploaded files: stored on disk, limited per visitor and per server, removed when the visitor has left.

Streamlit would hold every file in memory as long as the session lives. Here it receives one line instead of the file,
with its path or the reason it was refused; ui/uploads.py reads that line.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import socket
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from minibert.folders import runs_folder
from minibert.text.json_values import json_value
from ui.door.identity import token_in

MB = 1_000_000
PER_VISITOR, PER_SERVER = 200 * MB, 2_000 * MB
FREE = 1_000 * MB  # bytes of the disk that uploads must leave free
SECONDS_GONE = 150  # Streamlit keeps a disconnected session for 120
SECONDS_BETWEEN_SWEEPS = 20
CHUNK = 1 << 20
LONGEST_NAME = 200
_UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)", re.DOTALL)
_MARK = f"minibert upload {secrets.token_hex(16)} "  # random, so that no upload can forge the line


@dataclass(frozen=True)
class StoredUpload:
    """An uploaded file of the visitor `owner`."""

    owner: str
    session: str
    path: Path
    size: int


class UploadStore:
    """All files of this server's visitors. Safe to call from any thread."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._files: dict[tuple[str, str], StoredUpload] = {}
        self._coming: dict[object, tuple[str, int]] = {}  # place → (visitor, bytes) of uploads in progress
        self._seen: dict[str, float] = {}  # session → when it was last connected
        self._lock = threading.Lock()

    def reserve(self, owner: str, size: int) -> object | str:
        """Reserve `size` bytes → a place for them; or "visitor", "server" or "disk": the limit they would exceed."""
        with self._lock:
            held = [(upload.owner, upload.size) for upload in self._files.values()] + list(self._coming.values())
            if sum(bytes_ for other, bytes_ in held if other == owner) + size > PER_VISITOR:
                return "visitor"
            if sum(bytes_ for _other, bytes_ in held) + size > PER_SERVER:
                return "server"
            self.folder.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(self.folder).free - size < FREE:
                return "disk"
            place = object()
            self._coming[place] = (owner, size)
            return place

    def leave(self, place: object) -> None:
        with self._lock:
            self._coming.pop(place, None)

    def keep(self, owner: str, session: str, file: str, path: Path) -> None:
        self.remove(session, file)
        with self._lock:
            self._files[session, file] = StoredUpload(owner, session, path, path.stat().st_size)
            self._seen[session] = time.monotonic()

    def remove(self, session: str, file: str) -> None:
        with self._lock:
            upload = self._files.pop((session, file), None)
        if upload:
            upload.path.unlink(missing_ok=True)

    def sweep(self, connected) -> None:
        """Remove files of sessions disconnected for over SECONDS_GONE. connected(session): whether it is active."""
        now = time.monotonic()
        with self._lock:
            sessions = {upload.session for upload in self._files.values()}
            self._seen = {one: now if connected(one) else self._seen.get(one, now) for one in sessions}
            gone = [key for key, upload in self._files.items() if now - self._seen[upload.session] > SECONDS_GONE]
            removed = [self._files.pop(key) for key in gone]
        for upload in removed:
            upload.path.unlink(missing_ok=True)

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(upload.size for upload in self._files.values())

    def clear(self) -> None:
        """Remove all files, on shutdown."""
        with self._lock:
            self._files.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def store() -> UploadStore:
    """This server's store, in a folder named by host and pid: other servers may share the folder of runs."""
    return UploadStore(runs_folder() / "uploads" / f"{socket.gethostname()}-{os.getpid()}")


def clear_leftovers(runs: Path) -> None:
    """Remove uploads left by killed servers of this machine."""
    host = socket.gethostname()
    for folder in (runs / "uploads").glob(f"{host}-*"):
        pid = folder.name.removeprefix(f"{host}-")
        if pid.isdigit() and (int(pid) == os.getpid() or not psutil.pid_exists(int(pid))):
            shutil.rmtree(folder, ignore_errors=True)


def upload_info(content: bytes) -> dict | None:
    """The dict in the line that Streamlit received in place of a file; None for any other content."""
    mark = _MARK.encode()
    return json_value(content[len(mark) :]) if content.startswith(mark) else None


class Uploads:
    """ASGI middleware: stores the body of an upload and replaces it in the request by a line that describes it."""

    def __init__(self, app: ASGIApp, uploads: UploadStore | None = None):
        self.app, self.store = app, uploads or store()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        where = _UPLOAD.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if where is None or scope["method"] not in ("PUT", "DELETE"):
            await self.app(scope, receive, send)
        elif scope["method"] == "DELETE":
            if await self._pass_on(scope, receive, send) == 204:
                self.store.remove(where["session"], where["file"])
        else:
            await self._take(scope, receive, send, where["session"], where["file"])

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> int:
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self.app(scope, receive, watched)
        return status

    async def _take(self, scope: Scope, receive: Receive, send: Send, session: str, file: str) -> None:
        headers = Headers(scope=scope)
        owner = token_in(headers.get("cookie", "")) or session
        most = config.get_option("server.maxUploadSize") * CHUNK + CHUNK
        announced = headers.get("content-length", "")
        size = int(announced) if announced.isdigit() and len(announced) < 16 else most
        if size > most:
            await PlainTextResponse("File too large", status_code=413)(scope, receive, send)
            return
        place = self.store.reserve(owner, size)
        path = self.store.folder / secrets.token_hex(16)
        try:
            refused = place if isinstance(place, str) else None
            name = await self._read(Request(scope, _at_most(receive, most)), None if refused else path)
            info = {"refused": refused} if refused else {"path": str(path), "size": path.stat().st_size}
            status = await self._pass_on(*_with_body(scope, name, (_MARK + json.dumps(info)).encode()), send)
            if status == 204 and not refused:
                self.store.keep(owner, session, file, path)
                path = None
        except HTTPException as error:
            await PlainTextResponse(error.detail, status_code=error.status_code)(scope, receive, send)
        except (MultiPartException, OSError) as error:
            await PlainTextResponse(f"The file did not arrive: {error}"[:200], status_code=400)(scope, receive, send)
        except ClientDisconnect:
            pass
        finally:
            self.store.leave(place)
            if path is not None:
                path.unlink(missing_ok=True)

    async def _read(self, request: Request, path: Path | None) -> str:
        """Write the form's only file to `path` (discard it if None) and return its name; HTTPException otherwise."""
        async with request.form(max_files=1, max_fields=1) as form:
            files = [value for value in form.values() if isinstance(value, UploadFile)]
            if len(files) != 1:
                raise HTTPException(400, f"Expected 1 file, but got {len(files)}")
            if path is not None:
                await asyncio.to_thread(_copy, files[0].file, path)
            return (files[0].filename or "")[:LONGEST_NAME]


def _copy(source, path: Path) -> None:
    with open(path, "xb") as target:
        source.seek(0)
        shutil.copyfileobj(source, target, CHUNK)


def _at_most(receive: Receive, most: int) -> Receive:
    """`receive` that raises HTTPException 413 after more than `most` bytes."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise HTTPException(413, "File too large")
        return message

    return counted


def _with_body(scope: Scope, name: str, content: bytes) -> tuple[Scope, Receive]:
    """The request with its body replaced by a form that holds one small file."""
    boundary = secrets.token_hex(16)
    plain = name.translate({ord(c): "_" for c in '"\r\n\0'})
    body = (
        (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode()
        + content
        + f"\r\n--{boundary}--\r\n".encode()
    )
    replaced = {b"content-length", b"content-type", b"transfer-encoding"}
    headers = [(key, value) for key, value in scope["headers"] if key.lower() not in replaced]
    headers += [
        (b"content-type", f"multipart/form-data; boundary={boundary}".encode()),
        (b"content-length", str(len(body)).encode()),
    ]
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            await asyncio.Event().wait()  # never report a disconnect: the client is still connected
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return {**scope, "headers": headers}, receive
