"""A visitor over Streamlit's own protocol, without a browser: many of them cost nothing, and each keeps its cookies."""

import http.cookiejar
import threading
import urllib.error
import urllib.parse
import urllib.request

from google.protobuf.json_format import MessageToDict
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect


class Visitor:
    """Somebody with a browser of their own at `address`; headers go with every request, as a proxy would add them."""

    def __init__(self, address: str, headers: dict[str, str] | None = None):
        self.address, self.headers = address, headers or {}
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, path: str = "/", method: str = "GET", data: bytes | None = None, **headers: str):
        """The answer of the server, an error too."""
        request = urllib.request.Request(
            self.address + path, data, {**self.headers, "Accept": "text/html", **headers}, method=method
        )
        try:
            return self._opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            return error

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value for cookie in self.jar}

    def open(self, page: str = "", query: str = "", timeout: float = 60) -> "Session":
        """The page called `page`, when its script has ended."""
        self.get(f"/{page}").read()
        self.get("/_stcore/health").read()  # gives Streamlit's own cookie
        return Session(self, page, query, timeout)


class Session:
    """One window: a websocket, and what has come over it."""

    def __init__(self, visitor: Visitor, page: str, query: str, timeout: float):
        self.visitor = visitor
        cookies = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
        self.socket = connect(
            visitor.address.replace("http", "ws", 1) + "/_stcore/stream",
            additional_headers={"Cookie": cookies, **visitor.headers},
            subprotocols=["streamlit", visitor.cookies.get("_streamlit_xsrf", "-")],
            max_size=None,
            open_timeout=timeout,
        )
        self.id, self.messages = "", []
        self._lock = threading.Lock()
        self.run(page=page, query=query, timeout=timeout)

    def run(self, page: str = "", query: str = "", widgets=(), timeout: float = 60) -> None:
        """Run the page, and wait for the end."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.is_auto_rerun = query, page, False
        state.widget_states.widgets.extend(widgets)
        self.socket.send(message.SerializeToString())
        self.finish(timeout)

    def finish(self, timeout: float = 60) -> None:
        while True:
            message = ForwardMsg()
            message.ParseFromString(self.socket.recv(timeout=timeout))
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.id, self.messages = message.new_session.initialize.session_id, []
            self.messages.append(message)
            if kind == "script_finished" and message.script_finished in (
                ForwardMsg.FINISHED_SUCCESSFULLY,
                ForwardMsg.FINISHED_WITH_COMPILE_ERROR,
            ):
                return

    @property
    def elements(self) -> list:
        return [
            message.delta.new_element
            for message in self.messages
            if message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element"
        ]

    @property
    def exceptions(self) -> list[str]:
        return [f"{one.exception.type}: {one.exception.message}" for one in self.elements if one.HasField("exception")]

    @property
    def text(self) -> str:
        """All that was sent, as one text."""
        return str([MessageToDict(one) for one in self.elements])

    def widget(self, key: str) -> str:
        """The id of the widget with this key ($$ID-<hash>-<key>)."""
        for element in self.elements:
            inner = getattr(element, element.WhichOneof("type"))
            identity = getattr(inner, "id", "")
            if identity.split("-", 2)[-1] == key:
                return identity
        raise KeyError(key)

    def close(self) -> None:
        self.socket.close()
