"""Who sits before a page, and where: names that give nothing away."""

import hashlib
import ipaddress
import secrets

import streamlit as st

from ui.door.identity import COOKIE, valid

_OWNER = "_owner"  # session_state key
HERE = "here"  # the address of whoever sits at the server itself


def owner() -> str:
    """Who a run started here belongs to: this browser, so that its runs are found again after a reload."""
    if _OWNER not in st.session_state:
        token = valid(st.context.cookies.get(COOKIE)) or secrets.token_urlsafe()
        st.session_state[_OWNER] = hashlib.sha256(token.encode()).hexdigest()[:32]
    return st.session_state[_OWNER]


def address() -> str:
    """The network address that this browser comes from. Behind a proxy on this machine, what the proxy says."""
    return network(st.context.ip_address)


def network(host: str | None) -> str:
    """An IPv4 address as it is, of an IPv6 address the network: whoever has one has all of its 2⁶⁴."""
    try:
        ip = ipaddress.ip_address(host.partition("%")[0])
    except (ValueError, AttributeError):  # none, or none that is one
        return HERE
    if ip.version == 6 and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    if ip.is_loopback:
        return HERE
    return str(ipaddress.ip_network((ip, 64), strict=False)) if ip.version == 6 else str(ip)
