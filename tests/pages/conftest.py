"""Runs of the tests in this folder go to a folder of their own, and their workers end."""

import sys

import pytest


@pytest.fixture(scope="module", autouse=True)
def workers_end():
    """With the file whose tests began them, also where no test asked for a folder of runs: they hold gigabytes."""
    yield
    if "jobs.manager" in sys.modules:
        from ui.runs import manager

        manager().close()
        manager.clear()


@pytest.fixture(scope="module")
def runs_folder(tmp_path_factory):
    """Where runs go while a module is tested; their workers end with it."""
    import streamlit

    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("runs")
        patch.setenv("MINIBERT_RUNS", str(folder))
        streamlit.cache_resource.clear()
        yield folder
        from ui.runs import manager

        manager().close()
        streamlit.cache_resource.clear()


@pytest.fixture
def results(runs_folder, tmp_path, monkeypatch):
    """Where a page reads recorded results from; nothing is there yet."""
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    return tmp_path


@pytest.fixture
def asked_for(runs_folder, monkeypatch):
    """(target, arguments, options) of each run that a page begins while a test runs; none is begun."""
    from jobs.manager import JobError, Manager

    calls = []

    def submit(self, target, *arguments, **options):
        calls.append((target, arguments, options))
        raise JobError("recorded")

    monkeypatch.setattr(Manager, "submit", submit)
    monkeypatch.setattr(Manager, "warm_up", lambda self: None)
    return calls
