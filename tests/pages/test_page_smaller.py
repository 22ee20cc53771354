"""The page on smaller models: what is drawn is recorded and measured, runs are drawn, eight bits compared."""

import pytest

from minibert.experiments.relative_catalogue import REQUIRED
from minibert.experiments.results import read_records
from tests.pages.driver import ROOT, figure, open_page, title_of

RECORDS = ROOT / "lessons" / "results" / "smaller.jsonl"


def test_bubbles_are_what_is_recorded_at_what_is_measured():
    app = open_page("smaller", text="It is a film.")
    records = read_records(RECORDS, REQUIRED)
    line, *points = figure(app, "tradeoff")["data"]
    drawn = {point["hovertemplate"].split(":")[0]: point for point in points}
    assert set(drawn) == {
        f"{name}{bits}" for name in ("teacher", "student alone", "taught student") for bits in ("", ", 8 bits")
    }
    for arm, name in (("teacher", "teacher"), ("alone", "student alone"), ("many", "taught student")):
        scores = [record["metrics"]["accuracy"] for record in records if record["arm"] == arm]
        assert drawn[name]["y"][0] == pytest.approx(100 * sum(scores) / len(scores))
    assert drawn["teacher"]["x"][0] > drawn["student alone"]["x"][0] == drawn["taught student"]["x"][0] > 0
    assert drawn["teacher, 8 bits"]["x"][0] < drawn["teacher"]["x"][0] and line["mode"] == "lines"
    assert "It is a film." in title_of(app, "tradeoff")


def test_without_results_and_without_runs_it_says_so(monkeypatch, tmp_path, runs_folder):
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    app = open_page("smaller")
    assert any("experiment smaller --seeds 3" in box.value for box in app.info)
    assert open_page("smaller", drawn="own").info


def test_eight_bits_are_measured_and_the_claim_is_told():
    app = open_page("smaller", part="Eight bits")
    table = app.table[0].value
    assert list(table["model"]) == ["mini-en", "minilm-en"] and list(table["numbers"]) == ["5,454,080", "22,713,216"]
    assert table["8 bits"][0].startswith("12.2 MB")
    for claim in ("size", "losses"):
        app = open_page("smaller", part="The claim", claim=claim)
        assert any(len(frame.value) == 7 for frame in app.dataframe) or figure(app, "scores-claim") is not None
    app = open_page("smaller", part="The losses", T="5.0")
    (shown,) = (table.value["T = 5"] for table in app.table if "T = 5" in table.value.columns)
    assert list(shown) == ["49.1%", "32.9%", "18.0%"]  # of 4, 2 and -1, each by 5
