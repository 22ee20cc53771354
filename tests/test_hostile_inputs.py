"""Hostile inputs drawn from a fixed seed: a few hundred every day, more of them now and then, ten thousand in
`bench.hostile`, which also says what must hold."""

import json
import time

import pytest

from bench import hostile
from bench.hostile import SURFACES, Broken, Ground, check_command, counts, summary, tried
from tests.hostile_inputs import a_text, a_value, drawing, mutated, mutated_json

SEED = 20
QUICK = {"command line": 40, "files": 50, "uploads": 120, "service": 100}
MANY = {"command line": 250, "files": 250, "uploads": 500, "service": 400, "subprocesses": 3, "links": 8}


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    return Ground.prepared(tmp_path_factory.mktemp("ground"))


@pytest.mark.parametrize(
    ("surface", "numbers"),
    [(name, range(count)) for name, count in QUICK.items()]
    + [
        pytest.param(name, range(QUICK.get(name, 0), count), marks=pytest.mark.release, id=f"{name}-many")
        for name, count in MANY.items()
    ],
)
def test_each_gets_an_answer_or_a_sentence(surface, numbers, ground):
    wrong = [trial for trial in (tried(surface, number, SEED, ground) for number in numbers) if trial.wrong]
    assert not wrong, "\n".join(f"{trial.surface} {trial.number}: {trial.given}\n{trial.wrong}" for trial in wrong[:3])


def test_the_same_seed_draws_the_same_inputs():
    def drawn(seed: int) -> list:
        rng = drawing(seed, "files", 7)
        return [a_text(rng), json.dumps(a_value(rng)), mutated(rng, b"a\tb\n" * 9), mutated_json(rng, b'{"a": [1]}')]

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize(
    ("attack", "why"),
    [
        (lambda: {}["missing"], "KeyError"),
        (lambda: all(iter(lambda: True, None)), "took more than 0.1 seconds"),
        (lambda: time.sleep(60), "took more than 60 seconds"),
        (lambda: check_command(1, b"Traceback (most recent call last)"), "Traceback"),
        (lambda: check_command(1, b""), "exit 1"),
        (lambda: check_command(2, b"x" * 500), "a line of 500 characters"),
        (lambda: check_command(2, b"\x1b[2J"), "a line of 4 characters"),
        (lambda: b"x" * (200 * 2**20), "took 2.. MB"),
    ],
)
def test_what_must_not_be_is_seen(attack, why, ground, monkeypatch):
    def surface(rng, ground):
        yield "given"
        attack()

    monkeypatch.setitem(SURFACES, "attack", surface)
    monkeypatch.setattr(hostile, "LIMIT", 0.1 if "more than" in why else 60)
    monkeypatch.setattr(hostile, "PATIENCE", 0.1 if "60" in why else 600)
    monkeypatch.setattr(hostile, "MEMORY", 100 * 2**20)
    trial = tried("attack", 0, SEED, ground)
    assert trial.given == "given"
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(trial.wrong)
    recorded = summary([trial], SEED)
    assert recorded["wrong"] == 1 and recorded["which"][0]["surface"] == "attack"


def test_an_answer_of_the_service_that_must_not_be_is_seen():
    class Answer:
        headers, text = {"content-type": "application/json"}, ""

        def __init__(self, status_code, content, kind="application/json"):
            self.status_code, self.content, self.headers = status_code, content, {"content-type": kind}

    hostile.check_answer(Answer(422, b'{"error": "blank"}'))
    for wrong in (
        Answer(500, b"{}"),
        Answer(200, b"<script>", "text/html"),
        Answer(200, b'{"p": NaN}'),
        Answer(400, b'"' + b"x" * 2000 + b'"'),
    ):
        with pytest.raises(Broken):
            hostile.check_answer(wrong)


def test_every_input_is_of_a_surface():
    assert sum(counts(10_000).values()) == 10_000 and counts(10_000).keys() == SURFACES.keys() - {"attack"}
