"""Several servers behind one address: real processes, really killed."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from bench.classroom import train_button
from servers import proxy, room
from servers.__main__ import main
from servers.children import MOST, Child, NotStarted
from servers.visitor import HeadlessVisitor
from tests.waiting import finished, until

ROOT = Path(__file__).resolve().parents[2]
needs_proxy = pytest.mark.skipif(proxy.program() is None, reason=f"needs {proxy.PACKAGE} (apt-get install)")
CLASSROOM = [sys.executable, "-m", "minibert", "classroom"]
BEGUN = re.compile(r"\*\*(waiting|starting|training|finished)")
PATIENT = 240  # seconds: nothing waits for them, they only end what hangs


@contextmanager
def opened(folder: Path, *options: str):
    """A room with two servers, as soon as its door answers → its address and its first process."""
    (port,) = room.free_ports(1)
    command = [*CLASSROOM, "--servers", "2", "--host", "127.0.0.1", "--cold", "--port", str(port)]
    command += ["--runs", str(folder / "runs"), *options]
    with open(folder / "log.txt", "wb") as log:
        process = psutil.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        until(lambda: room.healthy(f"http://127.0.0.1:{port}") or process.poll() is not None, PATIENT)
        assert process.poll() is None, (folder / "log.txt").read_text(errors="replace")
        until(lambda: all(room.healthy(address) for address in addresses(process)), PATIENT)
        yield f"http://127.0.0.1:{port}", process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)


def servers(process: psutil.Process) -> list[psutil.Process]:
    """The app servers, in the order of their numbers."""
    found = []
    for one in process.children():
        with suppress(psutil.Error):
            if "servers.app_server" in one.cmdline():
                found.append(one)
    return found


def gone(processes: list[psutil.Process]) -> bool:
    return not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)


def addresses(process: psutil.Process) -> list[str]:
    ports = [re.search(r"server\.port=(\d+)", " ".join(one.cmdline()))[1] for one in servers(process)]
    return [f"http://127.0.0.1:{port}" for port in ports]


@pytest.mark.release
@pytest.mark.servers
@needs_proxy
def test_two_servers_are_one_classroom_and_outlive_one_of_them(tmp_path):
    with opened(tmp_path) as (address, process):
        finished(two_visitors(address, process))
        everybody = [process, *process.children(recursive=True)]
        assert any("haproxy" in one.name() for one in everybody) and len(everybody) >= 6
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        until(lambda: gone(everybody), 60)


async def two_visitors(address: str, process: psutil.Process) -> None:
    ada, bob = HeadlessVisitor(address, PATIENT), HeadlessVisitor(address, PATIENT)
    await ada.open("output_layer")
    await bob.open("input")
    place = ada.cookies[proxy.COOKIE]
    assert {place, bob.cookies[proxy.COOKIE]} == {"1", "2"}  # the one with fewer visitors takes the next
    await ada.go("input")
    assert ada.cookies[proxy.COOKIE] == place
    await ada.go("output_layer")
    assert "No run yet" in ada.text
    await ada.click(train_button(ada))
    assert BEGUN.search(ada.text)

    same = HeadlessVisitor(address, PATIENT)  # the same browser, sent to the other server
    same.cookies = ada.cookies | {proxy.COOKIE: bob.cookies[proxy.COOKIE]}
    await same.open("output_layer")
    assert same.cookies[proxy.COOKIE] == bob.cookies[proxy.COOKIE]
    assert "No run yet" not in same.text and BEGUN.search(same.text)

    victim = servers(process)[int(place) - 1]
    victim.kill()
    while ada.connected:  # the proxy ends what leads nowhere
        await asyncio.sleep(0.05)
    for _ in range(20):  # at every moment since, somebody answers at the address
        await asyncio.to_thread(urllib.request.urlopen, address, timeout=60)
    await ada.again()
    assert "No run yet" not in ada.text and BEGUN.search(ada.text)

    def both_there() -> bool:
        return len(servers(process)) == 2 and all(map(room.healthy, addresses(process)))

    await asyncio.to_thread(until, both_there, PATIENT)
    assert victim.pid not in [one.pid for one in servers(process)]
    assert not [*ada.exceptions, *bob.exceptions, *same.exceptions]
    for visitor in (ada, bob, same):
        await visitor.close()


@pytest.mark.release
@pytest.mark.servers
@needs_proxy
def test_a_server_of_another_machine_has_the_same_runs(tmp_path):
    """Started as the room says, with a folder of runs that is the same and nothing else in common."""
    jobs, elsewhere = (f"127.0.0.1:{port}" for port in room.free_ports(2))
    with opened(tmp_path, "--jobs", jobs, "--also", elsewhere) as (address, process):
        said = (tmp_path / "log.txt").read_text()
        assert "3 app servers" in said and f"MINIBERT_JOBS={jobs} MINIBERT_RUNS=… python -m minibert app" in said
        host, port = elsewhere.split(":")
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
        command += [f"--server.address={host}", f"--server.port={port}"]
        own = os.environ | {"MINIBERT_JOBS": jobs, "MINIBERT_RUNS": str(tmp_path / "runs")}
        with open(tmp_path / "third.txt", "wb") as log:
            third = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=own)
        try:
            until(lambda: room.healthy(f"http://{elsewhere}") or third.poll() is not None, PATIENT)
            assert third.poll() is None, (tmp_path / "third.txt").read_text(errors="replace")
            finished(the_same_runs(address, f"http://{elsewhere}"))
        finally:
            third.terminate()
            third.wait(60)
        everybody = process.children(recursive=True)
        process.kill()  # who starts it may be killed, and nothing is left
        until(lambda: gone(everybody), 60)


async def the_same_runs(address: str, elsewhere: str) -> None:
    """What is begun at the room's address is there elsewhere, and may be stopped from there."""
    here, there = HeadlessVisitor(address, PATIENT), HeadlessVisitor(elsewhere, PATIENT)
    await here.open("output_layer")
    await here.click(train_button(here))
    there.cookies = dict(here.cookies)
    await there.open("output_layer")
    assert "No run yet" not in there.text and BEGUN.search(there.text)
    for stop in [one for one in there.offered("button") if one.key.startswith("stop-")]:
        await there.click(stop)
    deadline = time.monotonic() + PATIENT
    while not re.search(r"\*\*(stopped|finished)", here.text):
        assert time.monotonic() < deadline, here.text
        await here.go("input")
        await here.go("output_layer")
    stranger = HeadlessVisitor(elsewhere, PATIENT)
    await stranger.open("output_layer")
    assert "No run yet" in stranger.text  # another browser's
    assert not [*here.exceptions, *there.exceptions, *stranger.exceptions]
    for visitor in (here, there, stranger):
        await visitor.close()


def test_without_the_proxy_there_is_one_server_and_words_that_name_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(proxy, "program", lambda: None)
    made = room.Room(room.RoomSettings(3, "127.0.0.1", *room.free_ports(1), 1, tmp_path, None, [], None))
    assert len(made.servers) == 1 and [child.name for child in made.children] == ["The job server", "Server 1"]
    assert f"--server.port={made.settings.port}" in made.servers[0].command  # nobody stands before it
    assert "apt-get install haproxy" in capsys.readouterr().out


def test_a_port_that_is_taken_is_said_in_a_line(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        command = [*CLASSROOM, "--host", "127.0.0.1", "--port", port, "--runs", str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--port chooses another" in done.stderr


@pytest.mark.parametrize("bad", [["--servers", "0"], ["--servers", "x"], ["--port", "99999"], ["--workers", "-1"]])
def test_numbers_that_make_no_sense_are_refused(bad, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(bad)
    assert "must be a number" in capsys.readouterr().err


def test_the_proxy_sticks_by_a_cookie_and_closes_the_figures_of_the_servers():
    text = proxy.settings("", 8501, ["127.0.0.1:9001", "192.0.2.8:8601"])
    assert "bind [::]:8501 v4v6" in text and "server 2 192.0.2.8:8601 cookie 2" in text
    assert f"cookie {proxy.COOKIE} insert indirect nocache httponly" in text and "/_stcore/metrics" in text
    assert "bind 127.0.0.1:80\n" in proxy.settings("127.0.0.1", 80, [])
    assert "bind [::1]:80\n" in proxy.settings("::1", 80, [])


def test_a_process_that_ends_is_started_again_and_one_that_never_starts_is_given_up(monkeypatch):
    monkeypatch.setattr("servers.children.PAUSE", 0.0)
    child = Child("It", [sys.executable, "-c", "import sys; sys.stdin.read()"], dict(os.environ))
    child.start()
    first = child.process.pid
    assert child.look() is None
    child.kill()
    until(lambda: child.look() is not None)
    until(lambda: child.look() is None and child.process.pid != first)
    child.ask_to_end()
    child.end(time.monotonic() + 60)
    assert child.process.poll() is not None
    broken = Child("It", [sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ))
    broken.start()
    told = []
    with pytest.raises(NotStarted, match="ends as soon as it has started"):
        until(lambda: told.append(broken.look()))
    assert len([words for words in told if words]) == MOST - 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux: cores are given to processes there")
def test_trainings_never_take_the_last_core(tmp_path):
    cores = os.sched_getaffinity(0)
    spared = room.spared()
    assert spared is None if len(cores) == 1 else len(spared) == len(cores) - 1
    file = tmp_path / "cores"
    look = f"import os; open({str(file)!r}, 'w').write(repr(os.sched_getaffinity(0)))"
    child = Child("It", [sys.executable, "-c", look], dict(os.environ), cores={min(cores)})
    child.start()
    child.process.wait(60)
    child.process.stdin.close()
    assert file.read_text() == repr({min(cores)}) and os.sched_getaffinity(0) == cores
