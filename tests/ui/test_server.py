"""The server as visitors and its owner meet it: who is who, what is closed, and how it ends."""

import asyncio
import re
import signal
import subprocess
import sys
from http.cookiejar import Cookie

import httpx2
import pytest

from servers.visitor import HeadlessVisitor
from tests.server import ROOT, fresh_server
from ui.door.identity import COOKIE
from ui.room.store import Store
from ui.room.visitors import Visitors

KEY = re.compile(r"the key\s+([a-z2-7]{4}(?:-[a-z2-7]{4}){3})\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder):
    with fresh_server(folder) as address:
        yield address


def browser(server: str, headers: dict[str, str] | None = None) -> httpx2.Client:
    """Keeps its cookies; headers go with every request, as a proxy would add them."""
    return httpx2.Client(base_url=server, headers={"Accept": "text/html", **(headers or {})}, timeout=60)


def cookie_of(visitor: httpx2.Client) -> Cookie:
    return next(cookie for cookie in visitor.cookies.jar if cookie.name == COOKIE)


def test_every_visitor_has_a_cookie_of_their_own_and_keeps_it(server):
    one, other = browser(server), browser(server)
    for visitor in (one, other):
        visitor.get("/attention")
    kept = cookie_of(one)
    assert kept.has_nonstandard_attr("HttpOnly") and kept.get_nonstandard_attr("SameSite") == "Lax" and not kept.secure
    assert kept.value != cookie_of(other).value
    one.get("/masking")
    assert cookie_of(one).value == kept.value
    behind = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7", "Host": server.removeprefix("http://")}
    said = browser(server, behind).get("/").headers.get_list("set-cookie")  # behind a proxy with TLS
    (cookie,) = [one for one in said if one.startswith(COOKIE)]
    assert "; Secure" in cookie and "; HttpOnly" in cookie and "; SameSite=Lax" in cookie


def test_nobody_is_told_about_the_server_and_its_owner_is_told_the_key(server, folder):
    for path in ("/_stcore/metrics", "/_stcore//metrics", "/_stcore/metrics?families=x"):
        answer = browser(server).get(path)
        assert answer.status_code == 404 and "memory" not in answer.text
    assert browser(server).get("/_stcore/health").status_code == 200
    printed = KEY.search((folder / "log.txt").read_text(encoding="utf-8"))[1]
    assert (folder / "runs" / "teacher-key").read_text(encoding="ascii") == printed


@pytest.mark.release
@pytest.mark.servers
def test_the_first_visitor_of_all_meets_the_door_too(tmp_path):
    """Nobody has opened a page before: Streamlit itself would show the file alone."""
    with fresh_server(tmp_path) as address:
        Visitors(Store(tmp_path / "runs" / "room.sqlite")).close_door()
        visitor = asyncio.run(opened(address, "masking"))
        headings = [line for line in visitor.text.splitlines() if line.startswith("#")]
        fields = visitor.offered("text_input")
        assert len(headings) == len(fields) == 1 and "room-code" in fields[0].id and not visitor.exceptions


async def opened(address: str, page: str) -> HeadlessVisitor:
    visitor = HeadlessVisitor(address)
    await visitor.open(page)
    await visitor.close()
    return visitor


STOPPED = """
import sys
sys.argv = ["streamlit", "run", "app.py", "--server.headless=true", "--server.port=0", "--server.address=127.0.0.1"]
import threading, time
from ui.runs import manager

def begin():
    runs = [manager().submit("tests.jobs.fake_training:until_cancelled", owner="ada", title="t") for _ in range(4)]
    while sum(run.state == "running" for run in runs) < min(2, manager().max_running):
        time.sleep(0.05)
    print("begun", manager().max_running, flush=True)

threading.Thread(target=begin, daemon=True).start()
from streamlit.web.cli import main
main()
"""


@pytest.mark.release
@pytest.mark.servers
def test_a_server_that_is_told_to_end_keeps_what_waited(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "runs"))
    server = subprocess.Popen([sys.executable, "-c", STOPPED], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    places = next(int(line.split()[1]) for line in server.stdout if line.startswith("begun"))
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=120)
    from jobs import Manager

    again = Manager(tmp_path / "runs", max_running=1, preload=())
    states = sorted(run.state for run in again.runs())
    assert states == sorted(["cancelled"] * (4 - places) + ["lost"] * places)
    assert all(run.can_restart for run in again.runs())
    again.close()
