"""The room: starts all processes of a classroom, keeps them running, ends them."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from minibert.folders import ROOT
from servers import proxy
from servers.children import Child, NotStarted

LOOK = 0.2  # seconds between two checks of the processes
HEALTH = 5.0  # seconds between two health checks
ANSWER = 10.0  # seconds until a health check times out
HUNG = 6  # failed health checks in a row before the server is restarted
SECONDS_TO_END = 15


class RoomError(RuntimeError):
    """The room cannot be opened; the message says why and what to do."""


@dataclass(frozen=True)
class RoomSettings:
    """The options of the command. workers: concurrent trainings · also: addresses of servers elsewhere · jobs: address
    of the job server for those · cold: do not open every page before the first visitor comes."""

    servers: int
    host: str
    port: int
    workers: int
    runs: Path
    scheduler: str | None
    also: list[str]
    jobs: str | None
    cold: bool = False


def free_ports(count: int) -> list[int]:
    """Free ports of this machine, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def check_port(host: str, port: int) -> None:
    """Raise RoomError if the port is in use."""
    everywhere = host in ("", "::", "0.0.0.0")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("" if everywhere else host, port))
        except OSError as error:
            raise RoomError(f"{host or 'port'} {port}: {error.strerror}; --port chooses another") from error


def network_address() -> str:
    """This machine's address in its network; "" if it has none. Sends nothing."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 1))
        return probe.getsockname()[0]
    return ""


class Room:
    """All processes of a classroom, from their start to their end."""

    def __init__(self, settings: RoomSettings):
        self.settings, self.program = settings, proxy.program()
        servers = settings.servers
        if self.program is None and (servers > 1 or settings.also):
            say(
                f"There is no {proxy.PACKAGE} here, which puts several servers behind one address (Debian, Ubuntu: "
                f"apt-get install {proxy.PACKAGE}). One server is started without it."
            )
            servers = 1
        self.fronted = self.program is not None and (servers > 1 or bool(settings.also))
        check_port(settings.host, settings.port)
        jobs_port, *ports = free_ports(servers + 1)
        self.jobs = settings.jobs or f"127.0.0.1:{jobs_port}"
        where = [f"127.0.0.1:{port}" for port in ports] if self.fronted else [f"{settings.host}:{settings.port}"]
        environment = self._environment(servers)
        self.training = Child("The job server", self._jobs_command(), environment, cores=spared())
        self.servers = [
            Child(
                f"Server {number}",
                self._server_command(address),
                environment,
                heard=number == 1,  # all print the same for the teacher
                started=self._warmer(address),
            )
            for number, address in enumerate(where, 1)
        ]
        self.addresses = where
        self.children = [self.training, *self.servers]
        self.folder = tempfile.TemporaryDirectory(prefix="minibert-classroom-")
        if self.program and self.fronted:
            file = Path(self.folder.name, "haproxy.cfg")
            file.write_text(proxy.settings(settings.host, settings.port, [*where, *settings.also]), encoding="utf-8")
            command = [self.program, "-db", "-q", "-f", str(file)]
            self.children.append(Child("The proxy", command, environment, deaf=True))
        self._over = threading.Event()
        self._warm: set[str] = set()
        self._unheard = dict.fromkeys(where, 0)

    def _environment(self, servers: int) -> dict[str, str]:
        cores = os.cpu_count() or 1
        own = {
            "MINIBERT_RUNS": str(self.settings.runs),
            "MINIBERT_JOBS": self.jobs,
            "MINIBERT_SCHEDULER": self.settings.scheduler or "",
            "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),  # cookies signed by one server are valid on all
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        }
        usual = {
            "OMP_NUM_THREADS": str(max(1, cores // servers)),
            "OMP_WAIT_POLICY": "passive",  # idle threads sleep: servers share the cores
            "MALLOC_ARENA_MAX": "2",  # one heap per short-lived thread would cost gigabytes
        }
        return usual | os.environ | own

    def _jobs_command(self) -> list[str]:
        command = [sys.executable, "-m", "jobs.server", "--listen", self.jobs, "--runs", str(self.settings.runs)]
        command += ["--workers", str(self.settings.workers)]
        return [*command, "--scheduler", self.settings.scheduler] if self.settings.scheduler else command

    def _server_command(self, address: str) -> list[str]:
        host, _, port = address.rpartition(":")
        command = [sys.executable, "-m", "servers.app_server", "--server.headless=true", f"--server.port={port}"]
        command += ["--logger.hideWelcomeMessage=true"]  # it would show an address that is not the room's
        return [*command, f"--server.address={host}"] if host else command

    # --- while it is open ---------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Start everything, restart what ends, and end all on SIGINT or SIGTERM."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._over.set())
        self.settings.runs.mkdir(parents=True, exist_ok=True)
        os.chdir(ROOT)  # where `python -m` finds jobs and servers
        try:
            for child in self.children:
                child.start()
            self._say_where()
            threading.Thread(target=self._ask_for_health, daemon=True).start()
            while not self._over.wait(LOOK):
                for child in self.children:
                    if words := child.look():
                        say(words)
            return 0
        except NotStarted as error:
            raise RoomError(str(error)) from error
        finally:
            self._end()

    def _say_where(self) -> None:
        trained = (
            f"trainings at {self.settings.scheduler}"
            if self.settings.scheduler
            else (f"{self.settings.workers} at a time of all trainings")
        )
        say(f"{len(self.servers) + len(self.settings.also)} app servers, {trained}, runs in {self.settings.runs}")
        host = self.settings.host
        for name, shown in (("Local", host or "localhost"), ("Network", "" if host else network_address())):
            if shown:
                say(f"{name} URL: http://{shown}:{self.settings.port}")
        if self.settings.also:
            say(f"On the other machines: MINIBERT_JOBS={self.jobs} MINIBERT_RUNS=… python -m minibert app")

    def _warmer(self, address: str) -> Callable[[], None]:
        """A callback for each start of the server at `address`: opens every page, so that no user waits for loading."""

        def warm() -> None:
            host, _, port = address.rpartition(":")
            direct = f"http://{host or '127.0.0.1'}:{port}"
            while not self._over.wait(LOOK) and not healthy(direct):
                pass
            if self.settings.cold:
                return
            # In a process of its own, which ends: a visitor needs Streamlit, 35 MB.
            command = [sys.executable, "-m", "servers.visitor", direct]
            visit = subprocess.run(
                command, env=self.training.environment, stderr=subprocess.PIPE, text=True, process_group=0
            )
            if self._over.is_set():
                return
            if visit.returncode:
                reason = visit.stderr.strip().rpartition("\n")[2]
                say(f"The server at {address} has not opened every page: {reason}")
            first = address not in self._warm
            self._warm.add(address)
            if first and len(self._warm) == len(self.servers):
                say("Every page has been opened once: ready for a class. Ctrl-C ends it.")

        return lambda: threading.Thread(target=warm, daemon=True).start()

    def _ask_for_health(self) -> None:
        while not self._over.wait(HEALTH):
            for child, address in zip(self.servers, self.addresses, strict=True):
                host, _, port = address.rpartition(":")
                if time.monotonic() - child.since < HUNG * HEALTH or healthy(f"http://{host or '127.0.0.1'}:{port}"):
                    self._unheard[address] = 0
                    continue
                self._unheard[address] += 1
                if self._unheard[address] >= HUNG:
                    say(f"{child.name} no longer answers")
                    child.kill()

    def _end(self) -> None:
        self._over.set()
        deadline = time.monotonic() + SECONDS_TO_END
        for child in reversed(self.children):  # first the proxy, then the app servers, last the job server they use
            child.ask_to_end()
            if child in (self.children[-1], self.training):
                child.end(deadline)
        for child in self.children:
            child.end(deadline)
        self.folder.cleanup()


def healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=ANSWER) as answer:
            return answer.status == 200
    except OSError:
        return False


def spared() -> set[int] | None:
    """The cores that trainings may use, all but one, which stays free for pages. None where that cannot be set."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return set(cores[1:]) or None


def say(words: str) -> None:
    print(words, flush=True)
