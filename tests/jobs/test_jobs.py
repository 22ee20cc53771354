"""Runs on a real embedded cluster: real processes, really killed."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from streamlit.testing.v1 import AppTest

import jobs
import jobs.manager as manager_module
from jobs.cluster import SESSION, SESSION_NICE
from jobs.files import unpack
from jobs.run import ARGS, STORED, Run, restore
from jobs.worker import is_written, unpacked
from minibert.toy.pretrain import TOY
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
FAKE = "tests.jobs.fake_training"
OVERDUE = 300  # seconds: nothing waits for them, they only end what hangs


@pytest.fixture(scope="module")
def one_manager(tmp_path_factory):
    manager = jobs.Manager(tmp_path_factory.mktemp("runs"), max_running=2, preload=())
    yield manager
    manager.close()


@pytest.fixture
def manager(one_manager):
    """For all tests the same; what one leaves running, because it failed, does not keep the next ones waiting."""
    yield one_manager
    for run in one_manager.runs():
        if not run.over:
            run.cancel()
    until(lambda: not one_manager._active)


def submit(manager, name, *args, owner="ada", **kwargs):
    return manager.submit(f"{FAKE}:{name}", *args, owner=owner, title=name, **kwargs)


def ended(run):
    assert run.wait(OVERDUE), run.state
    return run


def cancelled(*runs):
    for run in runs:
        run.cancel()
    return [ended(run).state for run in runs]


def steps(run):
    return [event["step"] for event in run.events() if event["event"] == "step"]


def stored(run):
    """The events as they lie on the disk."""
    return [json.loads(line) for line in (run.directory / "events.jsonl").read_text(encoding="utf-8").splitlines()]


def goes_on(run):
    seen = len(run.events())
    until(lambda: len(run.events()) > seen)


@pytest.fixture
def busy(manager):
    """Both places taken, for as long as the test lasts."""
    runs = [submit(manager, "until_cancelled", owner="teacher") for _ in range(2)]
    until(lambda: all(run.events() for run in runs))
    return runs


def test_trainings_yield_to_pages_of_another_session(manager):
    if not (SESSION.exists() and SESSION.read_text()):
        pytest.skip("no system that shares a core among sessions first")
    ended(submit(manager, "count", 1))
    session = Path(f"/proc/{manager._cluster.process.pid}/autogroup").read_text()
    assert session != SESSION.read_text() and session.split()[-1] == str(SESSION_NICE)


def test_events_arrive_complete_and_in_order_however_fast_they_come(manager):
    run = ended(submit(manager, "count", 2000))
    events = run.events()
    assert run.state == "finished" and run.error is None and run.progress == 1.0
    assert [(event["number"], event["step"]) for event in events] == [(i, i) for i in range(2000)]
    assert run.events(since=1998) == events[1998:] and run.latest("step") == events[-1]
    assert run.latest("eval") is None
    times = [event["time"] for event in events]
    assert times == sorted(times) and run.created <= times[0] <= times[-1] <= run.ended
    assert stored(run) == events


def test_a_run_is_seen_while_it_goes_on_keeps_what_it_saved_and_is_deleted_only_when_it_is_over(manager):
    run = submit(manager, "until_cancelled")
    until(lambda: len(run.events()) > 3)
    assert run.state == "running" and not run.over and run.started >= run.created
    manager.delete(run)
    assert manager.get(run.id) is run and run.directory.is_dir()
    assert cancelled(run) == ["cancelled"]
    until(lambda: run not in manager._active)
    assert run.events() and run.files == {"steps.txt": b"learnt something"}
    manager.delete(run)
    assert manager.get(run.id) is None and not run.directory.exists()


def test_a_cancelled_run_that_does_not_listen_loses_its_worker(manager, monkeypatch):
    monkeypatch.setattr(manager_module, "SECONDS_TO_SAVE", 0.1)
    run = submit(manager, "stays", OVERDUE)
    until(run.events)
    assert cancelled(run) == ["cancelled"]
    until(lambda: run not in manager._active)
    assert ended(submit(manager, "count", 3)).state == "finished"


def test_queue_serves_owners_in_turn_and_has_limits(manager, busy, monkeypatch):
    monkeypatch.setattr(manager, "limits", jobs.JobLimits(queued=3, queued_per_owner=2))
    first, second = (submit(manager, "count", 1, owner="eager") for _ in range(2))
    with pytest.raises(jobs.QueueFull, match="You already have 2 runs waiting"):
        submit(manager, "count", 1, owner="eager")
    other = submit(manager, "count", 1, owner="patient")
    with pytest.raises(jobs.QueueFull, match="3 runs are already waiting on this server"):
        submit(manager, "count", 1, owner="patient")
    late = [submit(manager, "count", 1, owner=f"late {i}") for i in range(3)]  # who has none waiting still gets in
    assert [run.position for run in (first, other, *late, second)] == [1, 2, 3, 4, 5, 6]  # not in the order they came
    assert cancelled(late[0]) == ["cancelled"] and late[0].position is None and not late[0].events()
    assert second.position == 5
    busy[0].cancel()
    for run in (first, other, second):
        assert ended(run).state == "finished"
    assert first.started <= other.started <= second.started


def fill(manager, owners, address):
    """As many runs as these owners get at an address, each until it is refused."""
    taken = []
    for owner in owners:
        with contextlib.suppress(jobs.QueueFull):
            while True:
                taken.append(submit(manager, "count", 1, owner=owner, address=address))
    return taken


def test_who_is_many_at_one_address_does_not_fill_the_queue(manager, busy):
    many = fill(manager, [f"cookie {i}" for i in range(10)], "192.0.2.1")
    assert len(many) <= 40 and len({run.owner for run in many}) == 10
    newcomer = submit(manager, "count", 1, owner="newcomer", address="192.0.2.7")
    assert newcomer.position <= 2  # nor wait for ten: their own address has none before
    assert len(fill(manager, ["newcomer"], "192.0.2.7")) >= 2  # nor is their address full
    same = submit(manager, "count", 1, owner="beside the ten", address="192.0.2.1")  # and they may sit in one room
    assert same.position <= 12
    cancelled(*(run for run in manager.runs() if not run.over and run not in busy))


def test_a_class_behind_one_address_trains(manager, busy):
    first = [submit(manager, "count", 1, owner=f"student {i}", address="192.0.2.1") for i in range(50)]
    assert [run.state for run in first] == ["queued"] * 50
    more = fill(manager, ["student 0", "student 1"], "192.0.2.1")
    assert 1 <= len(more) <= 6  # there is little room left
    assert min(run.position for run in more) > 50
    cancelled(*first, *more)
    alone = fill(manager, ["student 0"], "192.0.2.1")
    assert len(alone) >= 8  # and with the queue empty, much
    cancelled(*alone)


def test_shares_shrink_as_the_queue_grows(manager, busy):
    shares = [fill(manager, [f"from {i}"], f"192.0.2.{i}") for i in range(6)]
    counts = [len(runs) for runs in shares]
    assert counts == sorted(counts, reverse=True) and counts[0] >= 8 and counts[-1] < counts[0] / 2
    cancelled(*(run for runs in shares for run in runs))


def test_one_address_does_not_get_any_number_of_first_runs(manager, busy, monkeypatch):
    monkeypatch.setattr(manager, "limits", jobs.JobLimits(first_per_address=3))
    runs = [submit(manager, "count", 1, owner=f"cookie {i}", address="192.0.2.1") for i in range(3)]
    with pytest.raises(jobs.QueueFull, match="3 people at this address"):
        submit(manager, "count", 1, owner="cookie 4", address="192.0.2.1")
    cancelled(*runs, submit(manager, "count", 1, owner="somebody", address="192.0.2.2"))


def test_an_exception_is_told_and_the_events_before_it_stay(manager):
    run = ended(submit(manager, "fails"))
    assert run.state == "failed" and run.error == "ValueError: the labels make no sense"
    assert "fake_training.py" in run.traceback and len(run.events()) == 1
    reasons = {"exits": "SystemExit: 3", "not_a_generator": "not a generator function", "missing": "no attribute"}
    for name, error in reasons.items():
        run = ended(submit(manager, name))
        assert run.state == "failed" and error in run.error


def test_what_cannot_be_sent_or_kept_is_refused_at_once_and_leaves_nothing(manager, monkeypatch):
    before = set(manager.directory.iterdir())
    with pytest.raises(jobs.JobError, match="cannot be sent to a worker"):
        submit(manager, "count", lambda: 3)
    monkeypatch.setattr(Run, "store_arguments", no_room)  # on the disk
    with pytest.raises(jobs.JobError, match="cannot be kept"):
        submit(manager, "count", 1)
    assert set(manager.directory.iterdir()) <= before


def pids(run):
    return {event["heard"][0] for event in run.events() if event["event"] == "step"}


@pytest.mark.release
@pytest.mark.servers
def test_a_killed_worker_is_reported_and_replaced_and_the_other_run_goes_on(manager):
    other = submit(manager, "until_cancelled", owner="bob")
    until(other.events)
    run = submit(manager, "stays", OVERDUE)
    until(lambda: pids(run))
    os.kill(first := pids(run).pop(), signal.SIGKILL)
    until(lambda: pids(run) - {first})  # it begins again by itself, but not for ever
    os.kill(pids(run).pop(), signal.SIGKILL)
    assert ended(run).state == "lost" and "died" in run.error and len(run.events()) == 1 and run.tries == 1
    assert run.can_restart
    assert [ended(submit(manager, "count", 3)).state for _ in range(2)] == ["finished"] * 2
    goes_on(other)
    assert cancelled(other) == ["cancelled"]


@pytest.mark.release
@pytest.mark.servers
def test_a_killed_cluster_is_reported_and_replaced(tmp_path):
    manager = jobs.Manager(tmp_path, max_running=1, preload=())
    run, queued = submit(manager, "until_cancelled"), submit(manager, "count", 3)
    until(run.events)
    manager._cluster.process.kill()
    assert ended(queued).state == "finished"
    until(lambda: run.state == "running" and run.tries == 1)  # it begins again by itself
    until(run.events)
    goes_on(run)
    manager._cluster.process.kill()
    assert ended(run).state == "lost" and "scheduler" in run.error
    run.restart()
    until(lambda: run.state == "running")
    manager.close()


def test_a_run_whose_worker_is_killed_goes_on_from_what_it_had_saved(manager):
    run = submit(manager, "goes_on", 40)
    until(lambda: run.latest("saved") and run.latest("step")["step"] > run.latest("saved")["step"])
    assert (run.result / "resume" / "step").is_file()
    os.kill(run.latest("step")["heard"][0], signal.SIGKILL)
    assert ended(run).state == "finished" and run.tries == 1 and run.error is None
    assert steps(run) == list(range(1, 41))  # none lost, none twice
    assert len(pids(run)) == 2 and run.files["resume/step"] == b"40"
    assert stored(run) == run.events()
    until(lambda: not (run.directory / "arguments.pickle").exists())  # nothing will need them


def test_what_goes_on_follows_the_events_that_led_to_its_state_and_no_others(tmp_path):
    """A server may have died between two files, in either order."""
    run = Run(None, tmp_path, **dict.fromkeys(ARGS, "") | {"target": f"{FAKE}:goes_on"})
    run.store_files({"resume/step": b"10", "resume/told.json": b""})
    told = [{"event": "step", "step": n} for n in range(1, 28)]
    saves = [{"event": "saved", "step": n, "time": n} for n in (10, 20)]
    run.add([json.dumps(event) for event in [*told[:10], saves[0], *told[10:20], saves[1], *told[20:]]])
    (run.result / "resume" / "told.json").write_text(json.dumps(saves[0]), encoding="utf-8")
    run.reset_to_queue()
    assert run.events() == [*told[:10], saves[0]] and run.first_event == 11


def test_a_state_stays_away_from_home_until_its_event_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr("jobs.worker.SECONDS_TO_ARRIVE", 0.05)
    assert not is_written("saved", tmp_path)  # no folder of a run
    (tmp_path / "run.json").touch()
    for events in ("", "step\nsav", "step\nsaved\n"):
        (tmp_path / "events.jsonl").write_text(events, encoding="utf-8")
        assert is_written("saved", tmp_path) == events.endswith("saved\n")


@pytest.mark.release
@pytest.mark.trains
def test_a_pre_training_whose_worker_is_killed_goes_on(manager):
    settings = replace(TOY, minutes=None, steps=24, save_every=6, measure_every=12)
    target = "minibert.toy.pretrain:pretrain_toy"
    run = manager.submit(target, settings, stories=200, owner="ada", title=target, kind="pretraining/1")
    until(lambda: run.latest("saved") and run.latest("saved")["step"] >= 6)
    psutil.Process(listening_at(run.worker)).kill()
    assert ended(run).state == "finished" and run.tries == 1, run.error
    assert steps(run) == sorted(set(steps(run))) and steps(run)[-1] == 24  # no step is told twice
    assert {"config.json", "model.safetensors", "vocab.txt"} <= run.files.keys() and "resume" not in run.files


def listening_at(address) -> int:
    """The process of this machine that listens at a worker's address."""
    port = int(address.rpartition(":")[2])
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any(one.laddr.port == port and one.status == "LISTEN" for one in process.net_connections()):
                return process.pid
    raise LookupError(address)


def no_room(*_arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_model_that_meets_a_full_disk_waits_for_room(manager, monkeypatch):
    monkeypatch.setattr(manager_module, "SECONDS_FOR_ROOM", 0.05)
    full, store_files = [True], Run.store_files

    def store(self, files):
        if full[0] and self.title == "saves":
            no_room()
        store_files(self, files)

    monkeypatch.setattr(Run, "store_files", store)
    run, unwanted = submit(manager, "saves"), submit(manager, "saves")
    until(lambda: run.state == unwanted.state == "storing")
    assert [ended(submit(manager, "count", 1)).state for _ in range(3)] == ["finished"] * 3  # nobody waits for it
    assert cancelled(unwanted) == ["cancelled"]
    full[0] = False
    assert ended(run).state == "finished" and run.files["weights"] == bytes(range(256))


def test_a_worker_that_meets_a_full_disk_waits_for_room_and_says_so(manager):
    run = ended(submit(manager, "saves_on_a_full_disk"))
    assert run.state == "finished" and run.latest("waiting") is not None and run.files == {"weights": b"w"}


def test_events_that_the_disk_had_no_room_for_are_written_later(manager, monkeypatch):
    run = submit(manager, "until_cancelled")
    until(run.events)
    monkeypatch.setattr(Run, "_write_events", no_room)
    until(lambda: run.error and "cannot be kept" in run.error)
    monkeypatch.undo()
    until(lambda: run.error is None)
    cancelled(run)
    until(lambda: run not in manager._active)
    assert stored(run) == run.events()


def test_messages_reach_the_run_in_order_also_those_sent_before_it_started(manager, busy):
    run = submit(manager, "listens")
    for i in range(3):
        run.send(i)
    busy[0].cancel()
    until(run.events)
    for message in (3, {"probe_inputs": ["nicht schlecht"]}, "stop"):
        run.send(message)
    assert ended(run).state == "finished"
    assert run.latest("step")["heard"] == [0, 1, 2, 3, {"probe_inputs": ["nicht schlecht"]}, "stop"]
    run.send("too late")


def test_files_travel_both_ways(manager, tmp_path):
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "config.json").write_text("{}", encoding="utf-8")
    run = ended(submit(manager, "saves", start=jobs.Upload(tmp_path / "start")))
    assert run.state == "finished", run.traceback
    assert run.files == {"weights": bytes(range(256)), "deep/vocab.txt": b"[PAD]\n", "start.txt": b"{}"}
    kept = unpack(run.files, tmp_path / "kept" / "model")
    assert (kept / "deep" / "vocab.txt").read_bytes() == b"[PAD]\n"
    with pytest.raises(FileExistsError, match="choose another name"):
        unpack(run.files, kept)
    assert [path.name for path in kept.parent.iterdir()] == ["model"] and not list(tmp_path.glob("**/.*"))
    assert ended(submit(manager, "count", 1)).files == {}


def test_owners_see_their_own_runs_only(manager):
    one, two = submit(manager, "count", 1, owner="one"), submit(manager, "count", 1, owner="two")
    assert manager.runs("one") == [one] and manager.runs("two") == [two]
    assert {one, two} <= set(manager.runs())
    assert manager.get(one.id) is one and manager.get(one.id, owner="one") is one
    assert manager.get(one.id, owner="two") is None
    assert len(one.id) == 32 and one.id != two.id
    ended(one), ended(two)


def test_an_upload_holds_files_and_no_links_and_is_unpacked_in_a_list_too(tmp_path):
    model = tmp_path / "model"
    (model / "steps").mkdir(parents=True)
    for name in ("config.json", "steps/step-1"):
        (model / name).write_text(name, encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (model / "link").symlink_to(tmp_path / "secret")
    assert jobs.Upload(model).files == {"config.json": b"config.json", "steps/step-1": b"steps/step-1"}
    assert set(jobs.Upload(model, deep=False).files) == {"config.json"}
    uploads = [jobs.Upload(model / name) for name in ("config.json", "steps/step-1")]
    *paths, number = unpacked([*uploads, 3], tmp_path / "in")
    assert [path.read_text(encoding="utf-8") for path in paths] == ["config.json", "steps/step-1"] and number == 3


def test_the_oldest_runs_beyond_the_limit_are_removed(manager, monkeypatch):
    monkeypatch.setattr(manager, "limits", jobs.JobLimits(kept_per_owner=2))
    runs = [ended(submit(manager, "count", 1, owner="collector")) for _ in range(4)]
    until(lambda: [run.directory.exists() for run in runs] == [False, False, True, True])
    assert manager.runs("collector") == [runs[3], runs[2]]
    monkeypatch.setattr(manager, "limits", jobs.JobLimits(bytes_per_owner=1))
    last = ended(submit(manager, "count", 1, owner="collector"))
    until(lambda: manager.runs("collector") == [last])


def test_a_full_disk_is_cleared_where_most_is_held(manager, monkeypatch):
    for run in manager.runs():
        manager.delete(run)
    modest = ended(submit(manager, "count", 1, owner="modest"))
    greedy = [ended(submit(manager, "count", 1, owner="greedy")) for _ in range(3)]
    held = modest.size() * 7 // 2  # of five runs of about this size three may stay
    monkeypatch.setattr(manager, "limits", jobs.JobLimits(bytes=held))
    newest = ended(submit(manager, "count", 1, owner="newest"))
    until(lambda: not greedy[1].directory.exists())
    assert manager.runs() == [newest, greedy[2], modest]  # although modest's is the oldest of all
    monkeypatch.setattr(manager, "limits", jobs.JobLimits(bytes=1))
    last = ended(submit(manager, "count", 1, owner="last"))
    until(lambda: manager.runs() == [last])


SERVER = """
import signal, sys, jobs, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in a shell's background inherits that it is ignored
manager = jobs.Manager(sys.argv[1], max_running=2, preload=())
done = manager.submit("tests.jobs.fake_training:saves", owner="ada", title="done")
done.wait(300)
going = manager.submit("tests.jobs.fake_training:goes_on", 10_000, owner="ada", title="going")
other = manager.submit("tests.jobs.fake_training:until_cancelled", owner="ada", title="other")
while not other.events() or not (going.result / "resume" / "told.json").is_file():  # its state has come home
    time.sleep(0.01)
waits = manager.submit("tests.jobs.fake_training:count", 3, owner="ada", title="waits", address="192.0.2.1")
print(done.id, going.id, other.id, waits.id, flush=True)
time.sleep(600)
"""


@pytest.fixture
def ends(tmp_path):
    """Starts a server, checks that a second one leaves its runs alone, ends it by a signal; the ids of its runs."""

    def end(how):
        command, pipe = [sys.executable, "-c", SERVER, tmp_path], subprocess.PIPE
        server = subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)
        done, *others = server.stdout.readline().split()
        children = psutil.Process(server.pid).children(recursive=True)
        assert len(children) >= 3  # the scheduler and two workers
        elsewhere = jobs.Manager(tmp_path)
        assert [elsewhere.get(one) for one in others] == [None] * 3 and elsewhere.get(done).state == "finished"
        elsewhere.close()
        server.send_signal(how)
        server.communicate(timeout=OVERDUE)
        until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children))
        return done, *others

    return end


@pytest.mark.release
@pytest.mark.servers
def test_a_server_that_is_stopped_leaves_no_process_and_its_runs_are_found_again(tmp_path, ends):
    done, going, other, waits = ends(signal.SIGINT)
    with (tmp_path / other / "events.jsonl").open("a") as file:
        file.write('{"number": 99, "ev')  # as if it had died in the middle of a line
    (tmp_path / "not-a-run").mkdir()
    (tmp_path / ("0" * 32)).mkdir()
    (tmp_path / ("0" * 32) / "run.json").write_text('{"id": "../../outside"}', encoding="utf-8")
    again = jobs.Manager(tmp_path, max_running=2, preload=())
    assert {run.id for run in again.runs("ada")} == {done, going, other, waits} == {run.id for run in again.runs()}
    assert again.get(done).state == "finished" and again.get(done).files["deep/vocab.txt"] == b"[PAD]\n"
    lost = again.get(other)
    assert lost.state == "lost" and "server was stopped" in lost.error and lost.wait(0) and lost.progress == 0
    assert [event["number"] for event in lost.events()] == list(range(len(lost.events()))) != []
    assert lost.latest("step")["step"] == len(lost.events())
    assert json.loads((tmp_path / other / "run.json").read_text())["state"] == "lost"
    lost.cancel()
    lost.send("anyone there?")
    waited = again.get(waits)
    assert waited.state == "cancelled" and "had begun" in waited.error and waited.address == "192.0.2.1"
    assert waited.can_restart and lost.can_restart and not again.get(done).can_restart
    waited.restart()
    assert ended(waited).state == "finished" and waited.error is None and len(waited.events()) == 3
    last = again.get(going).latest("saved")["step"]
    again.get(going).restart()
    until(lambda: len(pids(again.get(going))) == 2)
    found = steps(again.get(going))
    assert found == list(range(1, len(found) + 1)) and len(found) > last
    again.close()


@pytest.mark.release
@pytest.mark.servers
def test_runs_of_a_server_that_was_killed_go_on_by_themselves(tmp_path, ends):
    done, going, other, waits = ends(signal.SIGKILL)
    again = jobs.Manager(tmp_path, max_running=3, preload=())
    assert ended(again.get(waits)).state == "finished" and again.get(waits).tries == 0  # it had not begun
    until(lambda: again.get(other).events() and len(pids(again.get(going))) == 2)
    assert again.get(going).tries == again.get(other).tries == 1 and again.get(done).tries == 0
    found = steps(again.get(going))
    assert found == list(range(1, len(found) + 1))
    again.close()


def test_of_servers_that_start_together_one_takes_a_run_that_was_killed(tmp_path):
    directory = tmp_path / ("a" * 32)
    directory.mkdir()
    values = dict.fromkeys(STORED) | dict.fromkeys(ARGS, "") | {"target": f"{FAKE}:count", "tries": 0, "created": 1.0}
    values |= {"id": directory.name, "owner": "ada", "state": "running", "server": [1, 0.0]}
    (directory / "run.json").write_text(json.dumps(values), encoding="utf-8")
    with ThreadPoolExecutor(8) as pool:
        taken = [run for run in pool.map(lambda _: restore(None, directory), range(8)) if run]
    assert [run.state for run in taken].count("lost") == len(taken) >= 1
    assert json.loads((directory / "run.json").read_text())["state"] == "lost"


@pytest.mark.parametrize("run_id", ["../ada", "..", "", "/etc/passwd", "run.json", "0" * 32, "%2e%2e"])
def test_an_id_that_is_not_a_runs_finds_nothing(manager, run_id):
    assert manager.get(run_id) is None


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "a\\evil", "C:evil", "", ".", "a\0b"])
def test_a_file_name_that_leads_out_of_its_folder_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="not the name of a file"):
        unpack({"fine": b"", name: b"evil"}, tmp_path / "folder")
    assert not list(tmp_path.iterdir())


def test_a_wrong_scheduler_address_is_told_at_submit(tmp_path, monkeypatch):
    monkeypatch.setattr(manager_module, "SECONDS_TO_CONNECT", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense://there"):
        manager = jobs.Manager(tmp_path, scheduler=address)
        manager.warm_up()  # says nothing
        with pytest.raises(jobs.ClusterError, match=f"No connection to the Dask scheduler at {address}"):
            submit(manager, "count", 1)
        assert manager.runs() == [] and not list(tmp_path.iterdir())
        manager.close()


OUTSIDE = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
    cluster.close()
"""


@pytest.mark.release
@pytest.mark.servers
def test_an_outside_scheduler_runs_the_same_code_without_having_it(tmp_path, monkeypatch):
    package = tmp_path / "here" / "classroom_code"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(Path(__file__).with_name("fake_training.py").read_text(encoding="utf-8"))
    (tmp_path / "there").mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command, pipe = [sys.executable, "-c", OUTSIDE], subprocess.PIPE
    cluster = subprocess.Popen(command, cwd=tmp_path / "there", env=environment, stdin=pipe, stdout=pipe, text=True)
    address = cluster.stdout.readline().strip()
    manager = jobs.Manager(tmp_path / "runs", scheduler=address, code=(ROOT / "minibert", ROOT / "jobs", package))
    try:
        run = manager.submit("classroom_code:saves", owner="ada", title="far away")
        assert ended(run).state == "finished", run.traceback
        assert run.files["weights"] == bytes(range(256))
        run = manager.submit("classroom_code:until_cancelled", owner="ada", title="far away")
        queued = manager.submit("classroom_code:count", 3, owner="ada", title="far away")
        until(run.events)
        assert queued.position == 1  # one thread there, one place here
        assert cancelled(run) == ["cancelled"] and ended(queued).state == "finished"
        run = manager.submit("classroom_code:dies", owner="ada", title="far away")
        until(run.events)
        run.send("it is here")
        assert ended(run).state == "lost"  # once, though that scheduler would try three times more
        assert len(run.events()) == 1
        cluster.communicate("", timeout=OVERDUE)
        monkeypatch.setattr(manager_module, "SECONDS_TO_CONNECT", 0.5)
        with pytest.raises(jobs.ClusterError):
            manager.submit("classroom_code:count", 3, owner="ada", title="gone")
    finally:
        manager.close()
        cluster.kill()


PAGE = """
from pathlib import Path
import jobs, streamlit as st
with Path({log!r}).open("a") as file:
    file.write("executed\\n")
manager = jobs.Manager({runs!r}, max_running=1, preload=())
run = manager.submit("tests.jobs.fake_training:whoami", owner="ada", title="who")
run.wait(300)
st.json(run.latest("step"))
manager.close()
"""


def test_a_page_is_not_executed_again_by_a_worker(tmp_path):
    log, page = tmp_path / "log", tmp_path / "page.py"
    page.write_text(PAGE.format(log=str(log), runs=str(tmp_path / "runs")), encoding="utf-8")
    app = AppTest.from_file(page, default_timeout=OVERDUE).run()
    assert not app.exception
    main, modules = json.loads(app.json[0].value)["heard"]
    assert log.read_text() == "executed\n" and main is None
    assert not any(name.split(".")[0] in ("streamlit", "pages", "ui") for name in modules)


def test_a_page_that_imports_jobs_does_not_wait_for_dask_or_torch():
    code = "import sys, jobs; print({'distributed', 'torch', 'streamlit'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
