"""Anonymous identifiers of the current visitor: owner and network address."""

import hashlib
import ipaddress
import secrets

import streamlit as st

from ui.door.identity import COOKIE, valid_token

_OWNER = "_owner"  # session_state key
HERE = "here"  # the address of visitors on the server's own machine


def owner() -> str:
    """Owner of the runs started in this session: a hash of the browser's cookie, so that runs survive a reload."""
    if _OWNER not in st.session_state:
        token = valid_token(st.context.cookies.get(COOKIE)) or secrets.token_urlsafe()
        st.session_state[_OWNER] = hashlib.sha256(token.encode()).hexdigest()[:32]
    return st.session_state[_OWNER]


def address() -> str:
    """Network address of the browser; behind a proxy on this machine, as reported by the proxy."""
    return network(st.context.ip_address)


def network(host: str | None) -> str:
    """An IPv4 address unchanged; for IPv6 the /64 network, since its user controls all 2⁶⁴ addresses of it."""
    try:
        ip = ipaddress.ip_address(host.partition("%")[0])
    except (ValueError, AttributeError):  # missing or invalid
        return HERE
    if ip.version == 6 and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    if ip.is_loopback:
        return HERE
    return str(ipaddress.ip_network((ip, 64), strict=False)) if ip.version == 6 else str(ip)
