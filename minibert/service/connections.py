"""The service's connections: uvicorn's, with a timeout for headers, and responses to clients that have closed their
sending side."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_SEND = 30  # seconds for a client's headers, and again for its body


class PatientProtocol(H11Protocol):
    """Unlike uvicorn's, does not wait forever for the rest of a request's headers, and does not drop a client that
    closes its side of the connection after its request, as `nc -N` does."""

    headers_due: asyncio.TimerHandle | None = None
    client_closed = False  # its sending side

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.wait_for_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # between two requests, or in the middle of the next one's headers
            self.wait_for_headers()
        else:
            self.stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_waiting()
        super().connection_lost(exc)

    def wait_for_headers(self) -> None:
        """Start the timeout unless it runs: sending a byte now and then does not extend it."""
        if self.headers_due is None:
            self.headers_due = self.loop.call_later(SECONDS_TO_SEND, self.give_up)

    def stop_waiting(self) -> None:
        if self.headers_due is not None:
            self.headers_due.cancel()
            self.headers_due = None

    def give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.conn.trailing_data[0] and self.conn.our_state is h11.IDLE:
            body = json.dumps({"error": f"the headers did not arrive within {SECONDS_TO_SEND} seconds"}).encode()
            headers = [("content-type", "application/json"), ("connection", "close")]
            headers.append(("content-length", str(len(body))))
            start = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
            for event in (start, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
        self.transport.close()

    @property
    def answering(self) -> bool:
        """Whether a complete request waits for its response."""
        return self.cycle is not None and not (self.cycle.response_complete or self.cycle.more_body)

    def eof_received(self) -> Any:
        """True keeps the connection open for the response."""
        self.client_closed = True
        return self.answering

    def on_response_complete(self) -> None:
        super().on_response_complete()  # starts on the next request if it has already arrived
        if self.client_closed and not self.answering:
            self.transport.close()
