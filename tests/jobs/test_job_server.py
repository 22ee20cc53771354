"""One manager for several app servers: real connections, real runs."""

import socket
import threading

import pytest

import jobs
from jobs.remote import MAX_CACHED_RUNS, RemoteManager
from jobs.server import JobServer
from jobs.wire import KEY, address_of
from tests.waiting import until

FAKE = "tests.jobs.fake_training"
OVERDUE = 300


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Address and folder of a job server."""
    manager = jobs.Manager(tmp_path_factory.mktemp("runs"), max_running=2, preload=())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = probe.getsockname()
    server = JobServer(manager, address)
    threading.Thread(target=server.serve, daemon=True).start()
    yield f"127.0.0.1:{address[1]}", manager
    server.listener.close()
    manager.close()


@pytest.fixture
def two(place):
    """Two app servers' views of it."""
    address, manager = place
    managers = [RemoteManager(address, manager.directory) for _ in range(2)]
    yield managers
    for one in managers:
        one.close()


def submit(manager, name, *args, owner="ada", **kwargs):
    return manager.submit(f"{FAKE}:{name}", *args, owner=owner, title=name, **kwargs)


def test_a_run_begun_on_one_server_is_seen_followed_and_found_whole_on_the_other(two):
    here, there = two
    run = submit(here, "count", 300, 0.001)
    same = there.get(run.id, "ada")
    assert same.title == "count" and same is not run and same.wait(OVERDUE)
    same = there.get(run.id)
    until(lambda: there.get(run.id).future is None)
    assert same.state == "finished" and [event["step"] for event in same.events()] == list(range(300))
    assert same.latest("step")["step"] == 299 and same.progress == 1.0 and same.events(298) == same.events()[298:]
    assert there.get(run.id, "bob") is None and there.runs("bob") == []
    assert here.get(run.id) is run and run.state == "finished" and [one.id for one in here.runs("ada")] == [run.id]


def test_a_run_is_stopped_and_deleted_from_the_other_server(two):
    here, there = two
    run = submit(here, "until_cancelled")
    until(lambda: there.get(run.id).latest("step"))
    there.get(run.id).cancel()
    assert run.wait(OVERDUE) and here.get(run.id).state == "cancelled"
    until(lambda: here.get(run.id).future is None)
    assert there.get(run.id).files == {"steps.txt": b"learnt something"}  # from the folder that they share
    here.delete(run)
    until(lambda: there.get(run.id) is None)
    run.cancel()  # what is gone cannot be stopped, and nothing breaks
    run.send("anyone there?")
    assert run.events() is not None and not run.directory.exists()


def test_places_in_the_queue_are_those_of_all_servers(two):
    here, there = two
    busy = [submit(here, "until_cancelled", owner="teacher") for _ in range(2)]
    waiting = [submit(manager, "count", 1, owner=owner) for manager, owner in zip(two, ("ada", "bob"), strict=True)]
    until(lambda: [there.get(run.id).position for run in waiting] == [1, 2])
    for run in busy:
        there.cancel(run)
    assert all(run.wait(OVERDUE) for run in waiting)


def test_what_the_manager_refuses_is_refused_in_its_words(two):
    with pytest.raises(jobs.JobError, match="cannot be sent"):
        submit(two[0], "count", threading.Lock())
    runs = [submit(two[0], "until_cancelled", owner="teacher") for _ in range(2)]
    with pytest.raises(jobs.QueueFull, match="already have"):
        for _ in range(two[0].ask(None, "limits").queued_per_owner + 1):
            runs.append(submit(two[1], "count", 1, owner="eve"))
    for run in reversed(runs):
        run.cancel()
        assert run.wait(OVERDUE)


def test_who_has_not_the_key_is_not_answered(place, tmp_path):
    address, manager = place
    assert (manager.directory / KEY).stat().st_mode & 0o077 == 0
    stranger = RemoteManager(address, tmp_path)  # another folder, another key
    with pytest.raises(jobs.ClusterError, match="another key"):
        stranger.runs()
    assert RemoteManager(address, manager.directory).runs() is not None


def test_a_list_of_runs_is_asked_for_once_in_a_moment_and_what_changed_here_is_seen_at_once(two, monkeypatch):
    here, there = two
    monkeypatch.setattr("jobs.remote.SECONDS_CACHED", 3600)
    before, asked, ask = len(here.runs("zoe")), [], here.ask
    monkeypatch.setattr(here, "ask", lambda run, name, *args, **kwargs: (asked.append(name), ask(run, name, *args))[1])
    assert len(here.runs("zoe")) == before == 0 and asked == []
    there.runs("zoe")
    run = there.submit(f"{FAKE}:count", 1, owner="zoe", title="count")
    assert there.runs("zoe") == [run] and here.runs("zoe") == []
    here.cancel(run)
    assert [one.id for one in here.runs("zoe")] == [run.id]
    assert run.wait(OVERDUE)


def test_what_is_held_here_is_bounded(two):
    here, _there = two
    for number in range(MAX_CACHED_RUNS + 10):
        here._resolve({"id": f"{number:032x}", "state": "finished", "future": None})
    assert len(here._runs) == MAX_CACHED_RUNS


@pytest.mark.parametrize("bad", ["", "8790", "127.0.0.1", "host:", "host:x", ":1"])
def test_an_address_is_a_host_and_a_port(bad):
    with pytest.raises(ValueError, match="is not an address"):
        address_of(bad)
