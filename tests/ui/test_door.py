"""What stands before the pages: the visitor's cookie, what is closed, and files of visitors, kept and bounded."""

import json
import re

import pytest
from starlette.datastructures import Headers

from tests.waiting import finished
from ui.door import uploads
from ui.door.closed import Closed
from ui.door.identity import COOKIE, Identity, token_in
from ui.door.uploads import Uploads, UploadStore, upload_info


def asked(app, path="/", *, method="GET", headers=None, scheme="http", body=b"", chunk=1 << 16):
    """(status, headers, body) of a request to an ASGI app."""
    names = {name.lower().encode(): value.encode("latin-1") for name, value in (headers or {}).items()}
    scope = {"type": "http", "path": path, "method": method, "scheme": scheme, "headers": list(names.items())}
    scope |= {"query_string": b"", "http_version": "1.1", "raw_path": path.encode(), "root_path": ""}
    parts = [body[i : i + chunk] for i in range(0, len(body), chunk)] or [b""]
    sent = []

    async def receive():
        part = parts.pop(0) if parts else b""
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    finished(app(scope, receive, send))
    return sent[0]["status"], Headers(raw=sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])


def answering(kind="text/html", status=200):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode())]})
        await send({"type": "http.response.body", "body": b"page"})

    return app


def cookie_of(headers) -> tuple[str, set[str]]:
    value, *attributes = headers["set-cookie"].split("; ")
    return value, {attribute.lower() for attribute in attributes}


def test_a_browser_gets_a_random_cookie_that_no_script_reads():
    app = Identity(answering())
    cookies = set()
    for _ in range(20):
        _status, headers, body = asked(app)
        value, attributes = cookie_of(headers)
        assert body == b"page" and {"httponly", "samesite=lax", "path=/"} <= attributes and "secure" not in attributes
        assert any(re.fullmatch(r"max-age=\d+", attribute) for attribute in attributes)
        assert headers["cache-control"] == "no-store"
        cookies.add(value)
    assert len(cookies) == 20
    assert "secure" in cookie_of(asked(app, scheme="https")[1])[1]  # behind TLS it goes nowhere else


@pytest.mark.parametrize("bad", ["", "x", "a" * 42, "a" * 44, "a" * 42 + "/", '"' + "a" * 43, "é" * 43])
def test_who_has_a_cookie_keeps_it_one_of_another_form_is_replaced_and_what_a_page_loads_gives_none(bad):
    app = Identity(answering())
    value, _attributes = cookie_of(asked(app)[1])
    assert token_in(value) == value.partition("=")[2]
    assert "set-cookie" not in asked(app, headers={"cookie": f"other=1; {value}"})[1]
    headers = asked(app, headers={"cookie": f"{COOKIE}={bad}".encode().decode("latin-1")})[1]
    assert cookie_of(headers)[0] != f"{COOKIE}={bad}"
    assert "set-cookie" not in asked(Identity(answering("text/javascript")))[1]


def test_what_tells_of_the_server_is_closed_and_the_rest_is_open():
    closed = "metrics", "/metrics", "./metrics", "metrics/", "agent/interact", "script-health-check"
    for path in ("/_STCORE/metrics", *(f"/_stcore/{name}" for name in closed)):
        assert asked(Closed(answering()), path)[0] == 404, path
    for path in ("/", "/_stcore/health", "/_stcore/host-config", "/metrics", "/attention"):
        assert asked(Closed(answering()), path)[0] == 200, path


WHERE = "/_stcore/upload_file/{session}/{file}"


class Streamlit:
    """Stands for the app behind: takes what it is sent, or refuses it."""

    def __init__(self, status=204):
        self.status, self.bodies = status, []

    async def __call__(self, scope, receive, send):
        body, more = b"", scope["method"] == "PUT"
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        self.bodies.append((Headers(scope=scope), body))
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    @property
    def said(self) -> dict:
        headers, body = self.bodies[-1]
        assert int(headers["content-length"]) == len(body)
        return upload_info(body.split(b"\r\n\r\n", 1)[1].rpartition(b"\r\n--")[0])


@pytest.fixture
def store(tmp_path):
    return UploadStore(tmp_path / "uploads")


def put(app, content, session="s", file="f", name="mine.tsv", token="a" * 43, **options):
    body = (
        (
            f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/plain\r\n\r\n'
        ).encode()
        + content
        + b"\r\n--x--\r\n"
    )
    headers = {"content-type": "multipart/form-data; boundary=x", "content-length": str(len(body))}
    headers |= {"cookie": f"{COOKIE}={token}", **options.pop("headers", {})}
    headers = {name: value for name, value in headers.items() if value}
    return asked(app, WHERE.format(session=session, file=file), method="PUT", headers=headers, body=body, **options)


def files_of(store):
    return sorted(store.folder.glob("*")) if store.folder.is_dir() else []


def test_a_file_lies_on_disk_and_streamlit_is_told_where(store):
    behind = Streamlit()
    content = bytes(range(256)) * 20_000
    assert put(Uploads(behind, store), content, name="Ähnliche.tsv")[0] == 204
    assert len(behind.bodies[0][1]) < 1000 and "Ähnliche.tsv".encode() in behind.bodies[0][1]
    (file,) = files_of(store)
    assert behind.said == {"path": str(file), "size": len(content)} and file.read_bytes() == content
    assert store.bytes == len(content)
    store.clear()
    assert put(Uploads(Streamlit(403), store), content)[0] == 403  # what Streamlit refuses is not kept
    assert not files_of(store) and store.bytes == 0 and store.reserve("a" * 43, uploads.PER_VISITOR) != "visitor"


def test_all_files_of_a_visitor_are_bounded_and_another_still_has_room(store, monkeypatch):
    monkeypatch.setattr(uploads, "PER_VISITOR", 10_000)
    behind = Streamlit()
    app = Uploads(behind, store)
    put(app, b"x" * 6000, file="1")
    assert put(app, b"x" * 6000, file="2", session="another window")[0] == 204  # the page says why, not the browser
    assert behind.said == {"refused": "visitor"} and len(files_of(store)) == 1
    put(app, b"x" * 6000, file="3", token="b" * 43)
    assert "path" in behind.said
    assert asked(app, WHERE.format(session="s", file="1"), method="DELETE")[0] == 204
    put(app, b"x" * 6000, file="2")
    assert "path" in behind.said and store.bytes == 12_000


def test_all_files_of_a_server_and_its_disk_are_bounded(store, monkeypatch):
    monkeypatch.setattr(uploads, "PER_SERVER", 10_000)
    behind = Streamlit()
    app = Uploads(behind, store)
    for i in range(3):
        put(app, b"x" * 4000, file=str(i), token="abc"[i] * 43)
    assert behind.said == {"refused": "server"} and len(files_of(store)) == 2
    monkeypatch.setattr(uploads, "FREE", 1 << 60)
    put(app, b"x", file="3")
    assert behind.said == {"refused": "disk"}


@pytest.mark.parametrize("headers", [{}, {"content-length": ""}, {"content-length": "100"}])
def test_a_file_that_says_less_than_it_sends_is_cut_off(store, monkeypatch, headers):
    monkeypatch.setattr(uploads.config, "get_option", lambda name: 1)
    assert put(Uploads(Streamlit(), store), b"x" * 5_000_000, headers=headers)[0] == 413
    assert not files_of(store) and store.bytes == 0


@pytest.mark.parametrize("file", ["f", "a.b", "a b", "é", "%2e", "a\nb"])
def test_no_name_of_a_file_leads_past_and_nobody_outside_can_write_the_line(store, file):
    behind = Streamlit()
    forged = b"minibert upload 0 " + json.dumps({"path": "/etc/passwd", "size": 1}).encode()
    put(Uploads(behind, store), forged, file=file)
    assert upload_info(forged) is None and behind.said == {"path": str(*files_of(store)), "size": len(forged)}


@pytest.mark.parametrize("headers", [{}, {"content-type": "multipart/form-data; boundary=x", "cookie": ""}])
@pytest.mark.parametrize("body", [b"", b"--x--\r\n", b"nothing of the kind"])
def test_a_broken_form_is_refused(store, body, headers):
    where = WHERE.format(session="s", file="f")
    assert asked(Uploads(Streamlit(), store), where, method="PUT", headers=headers, body=body)[0] == 400
    assert not files_of(store) and store.bytes == 0


def test_files_go_when_the_visitor_has_gone(store, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(uploads.time, "monotonic", lambda: now[0])
    app = Uploads(Streamlit(), store)
    put(app, b"x", session="stays", file="1")
    put(app, b"x", session="goes", file="2")
    for now[0] in (100.0, 240.0, 300.0):
        store.sweep(lambda session: session == "stays")
    assert len(files_of(store)) == 1 and store.bytes == 1
    now[0] = 10_000.0
    store.sweep(lambda session: session == "stays")
    assert store.bytes == 1
    store.clear()
    assert not files_of(store)


def test_leftovers_of_a_killed_server_are_cleared_and_those_of_a_live_one_stay(tmp_path):
    host = uploads.socket.gethostname()
    for name in (f"{host}-1", f"{host}-4194999", "elsewhere-4194999"):
        (tmp_path / "uploads" / name).mkdir(parents=True)
    uploads.clear_leftovers(tmp_path)
    assert sorted(path.name for path in (tmp_path / "uploads").iterdir()) == sorted([f"{host}-1", "elsewhere-4194999"])
