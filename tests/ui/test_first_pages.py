"""The first pages of a fresh server, opened by several readers in the same moment: all import at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.server import ROOT, fresh_server
from ui.lesson import Lesson

# Home and what imports most before it shows: pandas, plotly, readers of vocabularies.
PAGES = ("home", "tokenization", "attention", "parameters", "masking", "service")
PATIENCE = 240  # seconds


def visit(address: str, name: str, together: threading.Barrier) -> tuple[str, list[str], list[str]]:
    """What a browser is told that opens the page `name` as soon as all the others do: its title, the pages in its menu
    and the exceptions that it shows."""
    title, menu, exceptions = "", [], []
    request = BackMsg()
    request.rerun_script.page_name = "" if name == "home" else name
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    with connect(stream, subprotocols=["streamlit"], origin=address, max_size=None) as socket:
        together.wait()
        socket.send(request.SerializeToString())
        until = time.monotonic() + PATIENCE
        while True:
            told = ForwardMsg.FromString(socket.recv(timeout=until - time.monotonic()))
            kind, element = told.WhichOneof("type"), told.delta.new_element
            if kind == "navigation":
                menu = [page.url_pathname or "home" for page in told.navigation.app_pages]
            elif kind == "delta" and element.WhichOneof("type") == "exception":
                exceptions.append(f"{element.exception.type}: {element.exception.message}")
            elif kind == "delta" and element.WhichOneof("type") == "heading" and element.heading.tag == "h1":
                title = element.heading.body
            elif kind == "script_finished" and told.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return title, menu, exceptions


@pytest.mark.slow
def test_several_pages_open_at_once_on_a_fresh_server(tmp_path):
    together = threading.Barrier(len(PAGES))
    with fresh_server(tmp_path) as address, ThreadPoolExecutor(len(PAGES)) as readers:
        seen = dict(zip(PAGES, readers.map(lambda name: visit(address, name, together), PAGES), strict=True))
    course = {path.stem for path in (ROOT / "pages").glob("*.py")}
    for name, (title, menu, exceptions) in seen.items():
        assert not exceptions, (name, exceptions)
        assert title == Lesson(name).title
        assert set(menu) == course, name
