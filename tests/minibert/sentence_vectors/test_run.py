"""A run of sentence vectors: every objective learns, what is cut off goes on exactly, rows and files are checked."""

import json
from itertools import islice

import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity

from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.rows import SentenceRow, VectorBatches, check_rows, questions_of, read_rows
from minibert.sentence_vectors.run import HeldOut, VectorSettings, build_vector_learner, learn_vectors
from minibert.tasks.similarity import ScoredPair
from minibert.train import Done, Eval, Optimization, Sample, Saved, Started, Step

WORDS = [f"{a} {b} {c}" for a in "abcd" for b in "efgh" for c in "xy"]
ROWS = {
    "simcse": [SentenceRow((text,)) for text in WORDS],
    "simcse-supervised": [SentenceRow((text, text[::-1], "z z")) for text in WORDS],
    "softmax": [
        SentenceRow((text, text[::-1] if i % 2 else "z z"), "yes" if i % 2 else "no") for i, text in enumerate(WORDS)
    ],
    "cosine": [SentenceRow((text, text[::-1] if i % 2 else "z z"), float(i % 2)) for i, text in enumerate(WORDS)],
    "triplet": [SentenceRow((text, text[::-1], "z z")) for text in WORDS],
}
HELD = HeldOut(
    [ScoredPair("a b c", "a b c", 5.0), ScoredPair("a b c", "x y z", 0.0), ScoredPair("d d", "d e", 3.0)],
    [("a b", "one"), ("a b", "one"), ("x y z", "two"), ("x y z", "two")],
)


def settings(**changes) -> VectorSettings:
    few = {"steps": 12, "batch_size": 8, "measure_every": 6, "report_every": 2, "save_every": 4}
    return VectorSettings(**{**few, "optimization": Optimization(learning_rate=3e-3), **changes})


@pytest.mark.parametrize("objective", ROWS)
def test_every_objective_learns_and_is_saved(small_checkpoint, tmp_path, objective):
    run = learn_vectors(
        settings(objective=objective, steps=16), small_checkpoint, ROWS[objective], held=HELD, out=tmp_path / "out"
    )
    events = list(run)
    steps = [event for event in events if isinstance(event, Step)]
    assert isinstance(events[0], Started) and isinstance(events[-2], Saved) and isinstance(events[-1], Done)
    assert sum(step.loss for step in steps[-4:]) < sum(step.loss for step in steps[:4])
    vectors = SentenceVectors.from_directory(tmp_path / "out")
    assert vectors.embed(["a b"]).shape == (1, 32) and not (tmp_path / "out" / "resume").exists()
    lines = (tmp_path / "out" / "training.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["event"] == "started"


@pytest.mark.parametrize("objective", ["simcse", "softmax"])
def test_a_run_that_was_cut_off_goes_on_exactly(small_checkpoint, tmp_path, objective):
    def learn(folder, resuming=False, **changes):
        some = settings(objective=objective, **changes)
        return learn_vectors(some, small_checkpoint, ROWS[objective], out=tmp_path / folder, resuming=resuming)

    list(learn("whole"))
    cut = learn("cut")
    next(event for event in cut if isinstance(event, Step) and event.step == 6)
    cut.close()
    with pytest.raises(ValueError, match="temperature"):
        next(learn("cut", resuming=True, temperature=0.1))
    resumed = list(learn("cut", resuming=True))
    assert next(event for event in resumed if isinstance(event, Step)).step == 8
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "cut"))
    assert one == other


def test_what_is_measured(vectors):
    metrics = HELD.measure(vectors)
    assert metrics["spearman"] == pytest.approx(1.0) and metrics["alignment"] == pytest.approx(0, abs=1e-5)
    assert metrics["found"] == 1.0 and metrics["uniformity"] < 0
    assert HeldOut().measure(vectors) == {}


def test_watched_texts_find_their_lines_while_it_learns(small_checkpoint, vectors):
    mail = iter([[["y y"]]])
    watching = {"lines": WORDS, "probe_inputs": ["a e x"], "mailbox": lambda: next(mail, [])}
    events = list(learn_vectors(settings(), small_checkpoint, ROWS["simcse"], **watching))
    first, second, *_ = (event for event in events if isinstance(event, Sample))
    similar = cosine_similarity(vectors.embed(["a e x"]), vectors.embed(WORDS))[0]
    assert first.answers[0]["nearest"][0] == [WORDS[similar.argmax()], pytest.approx(similar.max(), abs=1e-3)]
    assert second.answers[0]["text"] == "y y"
    assert not any(isinstance(event, Eval) for event in events)


def test_batches_are_a_function_of_seed_and_place(letters):
    made, again = (VectorBatches(ROWS["triplet"], letters, 8, 16, seed=1) for _ in range(2))
    first, _ = list(islice(made, 7)), list(islice(again, 5))
    rest = VectorBatches(ROWS["triplet"], letters, 8, 16, seed=1, position=again.position)
    assert [batch.ids.tolist() for batch in first[5:]] == [batch.ids.tolist() for batch in islice(rest, 2)]
    assert first[0].ids.shape[0] == 24 and made.position.given == 7
    twice = next(iter(VectorBatches(ROWS["simcse"], letters, 8, 16, seed=1, copies=2)))
    assert torch.equal(*twice.ids.chunk(2)) and twice.labels is None


def test_rows_may_have_a_hard_negative_or_none(small_checkpoint, letters):
    rows = [SentenceRow((text, text[::-1], *(["z z"] if i % 3 == 0 else []))) for i, text in enumerate(WORDS)]
    batch = next(iter(VectorBatches(rows, letters, 9, 16, seed=1)))
    known = {letters.decode(ids, skip_special=True): ids for ids in batch.ids[:9].tolist()}
    hard = sum(len(row.texts) == 3 for row in rows if row.texts[0] in known)
    assert len(known) == 9 and 0 < hard < 9 and len(batch.ids) == 18 + hard
    assert {letters.decode(ids, skip_special=True) for ids in batch.ids[18:].tolist()} == {"z z"}

    chosen = settings(objective="simcse-supervised", batch_size=9)
    learner = build_vector_learner(small_checkpoint, chosen, rows)
    vectors = learner.eval().encoder(batch)
    a, p, n = vectors[:9], vectors[9:18], vectors[18:]
    similar = torch.tensor(cosine_similarity(a.detach(), torch.cat([p, n]).detach())) / chosen.temperature
    wanted = torch.nn.functional.cross_entropy(similar, torch.arange(9))
    assert learner(batch)["loss"].item() == pytest.approx(wanted.item(), rel=1e-4)
    assert list(learn_vectors(chosen, small_checkpoint, rows))


@pytest.mark.parametrize(
    ("objective", "rows", "why"),
    [
        ("word2vec", ROWS["simcse"], "one of"),
        ("simcse", ROWS["simcse"][:1], "two .* 1"),
        ("triplet", ROWS["cosine"], "three"),
        ("triplet", [*ROWS["triplet"], *ROWS["cosine"]], "three"),
        ("simcse-supervised", [*ROWS["triplet"], *ROWS["simcse"]], "two .* three"),
        ("softmax", [SentenceRow(("a", "b"), "yes")] * 3, "one"),
    ],
)
def test_rows_that_teach_nothing_are_refused(objective, rows, why):
    with pytest.raises(ValueError, match=why):
        check_rows(objective, rows)


def test_settings_are_checked():
    for wrong in ({"steps": 0}, {"dropout": 1.0}, {"temperature": 0.0}, {"max_length": 2}):
        with pytest.raises(ValueError):
            VectorSettings(**wrong)


def test_files(tmp_path):
    def detokenized(text: str):
        (tmp_path / "file.tsv").write_text(text)
        return tmp_path / "file.tsv"

    read = [row.texts for row in read_rows("simcse", detokenized("One here. Two there.\nOne here.\n\nThree.\n"))]
    assert read == [("One here.",), ("Two there.",), ("Three.",)]
    assert read_rows("triplet", detokenized("a\tb\tc\nd\te\tf\n"))[1].texts == ("d", "e", "f")
    with pytest.raises(ValueError, match="line 2"):
        read_rows("simcse-supervised", detokenized("a\tb\tc\nd\t\tf\n"))
    scored = read_rows("cosine", detokenized("sentence1\tsentence2\tscore\na\tb\t5.0\na\tc\t2.5\n"))
    assert [row.target for row in scored] == [1.0, 0.5]
    asked = [("How?", "What way?"), ("What way?", "What way?")]
    assert questions_of(detokenized("How?\tWhat way?\nWhat way?\tWhat way?\n")) == asked
