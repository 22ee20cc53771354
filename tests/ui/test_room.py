"""The room: who is there, the teacher's key, the door and its code, the same on all servers that share it."""

import hashlib
import os
import subprocess
import sys

import pytest
import streamlit as st

from tests.pages.driver import whole
from tests.server import ROOT
from tests.ui.driver import opened
from ui.room import key as keys
from ui.room import presence
from ui.room import visitors as rooms
from ui.room.entrance import enter
from ui.room.store import Store
from ui.room.visitors import TooManyTries, Visitors
from ui.visitor import HERE, network


@pytest.fixture
def room(tmp_path, monkeypatch):
    """Of a folder of runs of its own."""
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "runs"))
    monkeypatch.delenv("MINIBERT_TEACHER_KEY", raising=False)
    return Visitors(Store(tmp_path / "runs" / "room.sqlite"))


@pytest.mark.parametrize(
    ("said", "hosts"),
    [
        (HERE, [None, "127.0.0.1", "::1", "::ffff:127.0.0.1", "<b>"]),
        ("192.0.2.7", ["192.0.2.7", "::ffff:192.0.2.7"]),
        ("2001:db8:1:2::/64", ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:ffff::1%eth0"]),
    ],
)
def test_an_address_is_a_network(said, hosts):
    assert {network(host) for host in hosts} == {said}


def test_servers_that_share_a_folder_see_the_same_people(room, tmp_path):
    other = Visitors(Store(tmp_path / "runs" / "room.sqlite"))
    room.seen([("ada", "192.0.2.1", "attention")])
    other.seen([("bob", "192.0.2.1", "")])
    other.seen([("ada", "192.0.2.2", "masking")])
    ada, bob = ((one.owner, one.address, one.page) for one in room.here())
    assert ada == ("ada", "192.0.2.2", "masking") and bob == ("bob", "192.0.2.1", "")


def test_who_has_gone_is_there_no_more_and_later_forgotten(room, monkeypatch):
    now = [1e9]
    monkeypatch.setattr(rooms.time, "time", lambda: now[0])
    room.seen([("ada", "", "")])
    now[0] += rooms.SECONDS_HERE + 1
    room.seen([("bob", "", "")])
    assert [one.owner for one in room.here()] == ["bob"]
    now[0] += rooms.SECONDS_OF_A_CLASS
    room.forget_old()
    assert room.store.ask("SELECT owner FROM visitors") == [("bob",)] or not room.here()


def test_presence_is_of_sessions_that_are_connected(room):
    presence.record("one", "ada", "", "home")
    presence.record("two", "ada", "", "masking")
    presence.record("three", "bob", "", "home")
    presence.report(room.store, {"two"}.__contains__)
    assert [(one.owner, one.page) for one in room.here()] == [("ada", "masking")]


def test_a_closed_door_lets_in_who_was_there_and_who_has_the_code(room):
    room.seen([("ada", "", "")])
    assert room.may_enter("newcomer")
    code = room.close_door()
    assert len(code) == rooms.CODE_LENGTH and room.code == code
    assert room.may_enter("ada") and not room.may_enter("newcomer")
    assert not room.enter("newcomer", "", "wrong") and not room.enter("newcomer", "", "")
    assert not room.may_enter("newcomer")
    assert room.enter("newcomer", "", f" {code.lower()} ") and room.may_enter("newcomer")
    room.shut_out("ada")
    assert not room.may_enter("ada")
    assert room.close_door() != code or room.close_door() != code
    room.open_door()
    assert room.may_enter("anyone")


def test_the_teacher_is_in_whatever_the_door(room):
    room.make_teacher("teacher", "", "digest")
    room.close_door()
    assert room.may_enter("teacher") and room.is_teacher("teacher", "digest")
    assert not room.is_teacher("teacher", "of another key") and not room.is_teacher("ada", "digest")
    room.make_teacher("teacher", "", None)
    assert not room.is_teacher("teacher", "digest")


def test_tries_are_limited_by_visitor_and_by_address(room, monkeypatch):
    now = [1e9]
    monkeypatch.setattr(rooms.time, "time", lambda: now[0])
    for _ in range(rooms.TRIES_A_MINUTE["visitor"]):
        room.try_once("key", "eve", "192.0.2.1")
    with pytest.raises(TooManyTries):
        room.try_once("key", "eve", "192.0.2.1")
    room.try_once("key", "ada", "192.0.2.1")  # who sits beside is not locked out
    room.try_once("code", "eve", "192.0.2.1")
    tried = 0
    with pytest.raises(TooManyTries):  # nor is it any use to be somebody else each time
        for tried in range(1000):
            room.try_once("key", f"cookie {tried}", "192.0.2.1")
    assert tried <= rooms.TRIES_A_MINUTE["address"]
    room.try_once("key", "teacher", HERE)
    now[0] += 61
    room.try_once("key", "eve", "192.0.2.1")


def test_the_key_is_random_the_same_for_all_servers_and_read_by_their_owner_alone(room, tmp_path, monkeypatch):
    ask = [sys.executable, "-c", "from ui.room.key import key; print(key())"]
    servers = [subprocess.Popen(ask, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {server.communicate()[0].strip() for server in servers}
    assert said == {keys.key()}
    assert len(keys.key().replace("-", "")) == 16
    assert os.stat(tmp_path / "runs" / keys.FILE).st_mode & 0o077 == 0
    assert not list((tmp_path / "runs").glob(".*"))
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "elsewhere"))
    assert {keys.key()} != said


def test_the_key_may_be_typed_with_or_without_its_lines_and_nothing_else_is_it(room, monkeypatch):
    key = keys.key()
    assert all(map(keys.is_key, (key, key.upper(), key.replace("-", ""), f" {key} ")))
    wrong = ("", key[:-1], key + "x", "x" * 10_000, "\0", "é")
    assert not any(map(keys.is_key, wrong))
    assert keys.digest() == hashlib.sha256(key.replace("-", "").encode()).hexdigest()
    monkeypatch.setenv("MINIBERT_TEACHER_KEY", "open sesame")  # one's own
    assert keys.is_key("open sesame") and keys.key() == "open sesame"


def test_newcomers_meet_a_closed_door_and_no_page(room):
    def page():
        enter("home")
        st.markdown("THE PAGE")

    def shown(app):
        return [block.value for block in whole(app).markdown][-1] == "THE PAGE"

    def tried(code):
        app.text_input(key="room-code").set_value(code)
        return app.button[0].click().run()

    app = opened(page, session={"_owner": "zoe"})
    assert shown(app)
    code = room.close_door()
    assert not shown(app.run()) and app.title
    presence.report(room.store, lambda session: True)
    assert "zoe" not in [one.owner for one in room.here()]  # who waits outside is not among those who are in
    told = set()
    for _ in range(rooms.TRIES_A_MINUTE["visitor"] + 1):
        assert not shown(tried("AAAA"))
        told.add(app.error[0].value)
    assert len(told) == 2  # it is not the code; and too many tries
    room.store.ask("DELETE FROM tries")
    assert shown(tried(code))
