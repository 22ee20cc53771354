"""HAProxy in front of the app servers: one address, and every browser stays on its server.

HAProxy because, of the proxies that apt installs, it has built in: stickiness by cookie (a whole class may share one IP
address), health checks, and retrying a request on another server if its own is unreachable. nginx has cookie stickiness
and active health checks only in its commercial edition.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

COOKIE = "minibert-server"
PACKAGE = "haproxy"


def program() -> str | None:
    return shutil.which(PACKAGE, path=None) or shutil.which("/usr/sbin/haproxy")


def settings(host: str, port: int, servers: Sequence[str]) -> str:
    """HAProxy's configuration. servers: host:port of each, in the order of their numbers."""
    lines = [f"    server {number} {address} cookie {number}" for number, address in enumerate(servers, 1)]
    bind = f"[::]:{port} v4v6" if host in ("", "::", "0.0.0.0") else f"{f'[{host}]' if ':' in host else host}:{port}"
    return f"""\
global
    maxconn 4000
defaults
    mode http
    timeout connect 5s
    timeout client 2m
    timeout server 2m
    timeout queue 30s
    timeout http-request 30s
    timeout tunnel 12h
    timeout check 10s
    option redispatch 1
    retries 3
    retry-on conn-failure empty-response response-timeout
frontend classroom
    bind {bind}
    # Who asks, for the server behind: what a browser says of itself is not believed.
    http-request set-header X-Forwarded-For %[src]
    http-request deny if {{ path_beg /_stcore/metrics }}
    default_backend servers
backend servers
    balance leastconn
    cookie {COOKIE} insert indirect nocache httponly attr SameSite=Lax
    option httpchk GET /_stcore/health
    # Slow is not dead: a busy server keeps its visitors. One that has died refuses, and is passed over at once.
    default-server check inter 2s fall 5 rise 1
{chr(10).join(lines)}
"""
