"""The room's address, as words and as a QR code."""

import html
from urllib.parse import urlsplit

import streamlit as st
from streamlit.net_util import get_internal_ip

from ui.translations import _

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def show() -> None:
    address = address_of_room(st.context.url, get_internal_ip())
    st.subheader(_("The way in"), anchor=False)
    if address is None:
        st.markdown(_("This machine has no network: only it can open the classroom."))
        return
    st.html(qr_html(address))


def address_of_room(url: str | None, network_address: str | None) -> str | None:
    """The address for other machines: the one that the teacher's browser has, unless that is the server's own machine.

    None if there is none."""
    parts = urlsplit(url or "")
    if parts.hostname and parts.hostname not in LOOPBACK:
        return f"{parts.scheme}://{parts.netloc}"
    if network_address is None or network_address in LOOPBACK:
        return None
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme or 'http'}://{network_address}{port}"


def qr_html(address: str) -> str:
    """Dark on light in both themes, with the light margin of four modules that readers need; its text alternative is
    the address."""
    import segno

    image = segno.make(address, error="m").svg_data_uri(border=4, dark="#000000", light="#ffffff")
    words = html.escape(address)
    return f'<div class="mb-way-in"><img src="{html.escape(image)}" alt="{words}"><p>{words}</p></div>'
