"""What the pages of BERT's relatives, and those around them, have in common, asked of each in one place: parts, any
text, the command where nothing is recorded, verdicts, a diff of the running code, two trained side by side."""

import json
import re
from dataclasses import replace

import pytest

from minibert import checkpoint
from minibert.model import MlmHead
from minibert.objectives import Masking
from minibert.relatives.parts.replaced_token_detection import Discriminator
from minibert.toy.pretrain import TOY
from tests.hostile import EVERYTHING
from tests.pages.driver import ROOT, assert_no_markup, captions, figure, html_of, open_page, whole
from tests.pages.finished_runs import run_here
from tests.pages.recorded import relative_records, write_records
from ui.claim import verdict_words
from ui.code_diff import CodeChange, lines_of
from ui.source import source_of

RELATIVES = ("albert", "nezha", "xlnet", "electra")
release = pytest.mark.release


@pytest.mark.parametrize(
    ("page", "fields", "query"),
    [
        ("albert", "text first", {"part": "Order or topic", "token": 2}),
        ("electra", "text", {"part": "The task"}),
        ("nezha", "text", {}),
        ("xlnet", "text", {"part": "Words together"}),
        ("xlnet", "before behind", {"part": "Memory"}),
        ("what_to_hide", "text", {}),
        ("to_write", "text", {}),
        ("to_write", "noisy", {"part": "BART"}),
        ("to_write", "spoiled", {"part": "BART", "bart": "restores"}),
        ("to_write", "wrong-en", {"part": "BERT", "bert": "corrector"}),
        ("knowledge", "text fact", {"model": "minilm-en", "part": "The code"}),
        ("knowledge", "named", {"part": "Right name?"}),
        ("knowledge", "who", {"part": "Roles"}),
        ("knowledge", "entities", {"part": "Entities"}),
        ("sentence_vectors", "text own", {"model": "mini-en"}),
        ("sentence_vectors", "question", {"model": "mini-zh", "part": "Find and write"}),
        ("cone", "a b own", {"model": "mini-en"}),
        ("smaller", "text", {}),
        ("few_labels", "text", {"language": "zh", "part": "The code"}),
        ("dialogue", "text", {"part": "How it works"}),
    ],
)
@pytest.mark.parametrize("text", [EVERYTHING, ""], ids=["everything", "nothing"])
def test_any_text_is_text(runs_folder, page, fields, query, text):
    given = {field: " | ".join([text] * 3) if field == "fact" else text for field in fields.split()}
    assert_no_markup(open_page(page, owner="me", **given, **query))


@pytest.mark.parametrize(
    ("page", "field", "query"),
    [
        *((page, "text", {}) for page in RELATIVES),
        ("albert", "first", {"part": "Order or topic"}),
        ("xlnet", "before", {"part": "Memory"}),
        ("knowledge", "named", {"part": "Right name?"}),
        ("to_write", "question", {"unilm": "answers"}),
        ("to_write", "wrong-en", {"part": "BERT", "bert": "corrector"}),
        ("features", "text", {"part": "Which vectors are read"}),
        ("few_labels", "first-en", {"part": "Two texts"}),
        ("pretraining", "text", {"part": "Look back", "past": "mini-en"}),
    ],
)
def test_words_that_no_model_has_read_are_named_unknown(runs_folder, page, field, query):
    told = captions(open_page(page, owner="me", **{field: "felix was a ꙮ."}, **query))
    assert re.search(r"\b1\b.*\[UNK\]", told)


@pytest.mark.parametrize(
    ("page", "field", "query", "kept"),
    [
        ("albert", "text", {}, 126),
        ("albert", "second", {"part": "Order or topic"}, 50),
        ("electra", "text", {}, 58),
        ("xlnet", "text", {}, 12),
        ("xlnet", "behind", {"part": "Memory"}, 20),
        ("what_to_hide", "toy", {"part": "Three words"}, 126),
        ("knowledge", "named", {"part": "Right name?"}, 58),
        ("knowledge", "entities", {"part": "Entities"}, 38),
        ("features", "text", {"part": "Which vectors are read"}, 10),
    ],
)
def test_how_much_of_a_text_is_left_out_is_said(runs_folder, page, field, query, kept):
    told = captions(open_page(page, owner="me", **{field: "中" * 190}, **query))  # 190 tokens
    assert re.search(rf"\b{190 - kept}\b", told)


@pytest.mark.parametrize(
    ("page", "query", "experiment"),
    [
        *(("albert", {"claim": claim}, "albert") for claim in ("order", "time")),
        *((name, {}, name) for name in ("nezha", "xlnet", "sentence_vectors", "few_labels", "dialogue")),
        *(("training_options", {"option": option}, "lamb") for option in ("lamb", "batches")),
        ("xlnet", {"part": "Its worth"}, "xlnet_memory"),
        ("ernie2", {"part": "The claim"}, "ernie2"),
        ("to_write", {"unilm": "claim"}, "to_write"),
        ("to_write", {"part": "BERT", "bert": "claim", "claim": "corrector_zh"}, "corrector_zh"),
        ("knowledge", {"claim": "sembert"}, "sembert"),
        ("sentence_vectors", {"claim": "simbert"}, "simbert"),
        ("smaller", {"claim": "cut"}, "pruning"),
        ("smaller", {"claim": "search"}, "search"),
    ],
)
def test_without_results_the_command_stands_there(results, page, query, experiment):
    app = open_page(page, owner="me", **{"part": "The claim", **query})
    (command,) = [block.value for block in app.code if "--seeds 3" in block.value]
    assert command == f"python -m minibert experiment {experiment} --seeds 3"


def verdicts(app) -> list[tuple[str, float | None]]:
    """Of each row of a table of verdicts: which, and our difference."""
    keys, found = {words: key for key, words in verdict_words().items()}, []
    for table in (table.value for table in app.table if "verdict" in table.value):
        for here, said in zip(table["here"], table["verdict"], strict=True):
            ours = re.match(r"[+−][\d.]+(?= ± )", here)
            found.append((keys[said[2:].strip("*")], float(ours[0].replace("−", "-")) if ours else None))
    return found


LOW, HIGH, WIDE = [0.55, 0.56, 0.57], [0.75, 0.77, 0.76], [0.45, 0.55, 0.71]
FEW, FEWER = [0.30, 0.31, 0.32], [0.2, 0.3, 0.46]  # near what two neighbours tell
OPEN, NONE, LITTLE = "not in the paper", "no difference in the paper", "too little learned"


@pytest.mark.parametrize(
    ("page", "query", "experiment", "scale", "values", "said"),
    [
        (
            "electra",
            {},
            "electra",
            {"masked": 0.15, "train": 10, "test": 5},
            {
                "bert": {"who_is_meant": [0.50, 0.51, 0.52]},
                "electra": {"who_is_meant": [0.70, 0.71, 0.73]},
                "electra-15": {"who_is_meant": [0.40, 0.42, 0.43]},
                "replace-mlm": {"who_is_meant": [0.30, 0.55, 0.80]},
                "all-tokens-mlm": {"who_is_meant": [0.60]},
            },
            [("agrees", 20.3), (NONE, -9.3), (NONE, 4.0), ("unclear", None)],
        ),
        (
            "nezha",
            {},
            "nezha",
            {"masked": 0.15, "max_length": 32, "lengths": [32, 64, 128, 256]},
            {
                "learned": {"right_32": HIGH, "right_64": LOW, "right_128": LOW, "right_256": HIGH},
                "sinusoid": {"right_256": LOW},
                "nezha": {"right_32": WIDE, "right_64": HIGH, "right_128": LOW, "right_256": LOW},
                "nezha-16": {"right_256": HIGH},
            },
            [
                ("unclear", -19.0),
                ("agrees", 20.0),
                ("unclear", 0.0),
                ("disagrees", -20.0),
                ("disagrees", -20.0),
                (OPEN, 0.0),
                (OPEN, 20.0),
            ],
        ),
        (
            "training_options",
            {"option": "lamb"},
            "lamb",
            {"rows_read": 64},
            {
                "adamw-128": {"loss": [2.0, 2.1, 2.2]},
                "lamb-128": {"loss": [1.0, 1.1, 1.2]},
                "adamw-256": {"loss": [2.0, 2.1, 2.2]},
                "lamb-256": {"loss": [2.8, 2.9, 3.0]},
                "adamw-512": {"loss": [2.0, 2.1, 2.2]},
                "lamb-512": {"loss": [1.0, 3.0, 2.2]},
                "adamw-512-searched": {"loss": [2.0, 2.1, 2.2]},
                "lamb-512-searched": {"loss": [2.5, 2.6, 2.7]},
                "lamb-32": {"loss": [2.0, 2.1, 2.2]},
            },
            [("agrees", -1.0), ("disagrees", 0.8), ("unclear", -0.03), ("agrees", 0.5)],
        ),
        (
            "xlnet",
            {},
            "xlnet",
            {"masked": 0.25, "groups": 200},
            {
                "bert": {
                    "joint_at_once": [-4.0, -4.1, -4.2],
                    "joint_in_order": [-3.0, -3.1, -3.0],
                    "fits_at_once": LOW,
                    "fits_in_order": HIGH,
                    "chosen": HIGH,
                },
                "xlnet": {
                    "joint_at_once": [-4.0, -4.0, -4.1],
                    "joint_in_order": [-3.0, -3.1, -3.2],
                    "fits_at_once": LOW,
                    "fits_in_order": HIGH,
                    "chosen": LOW,
                },
            },
            [("agrees", 1.0), ("agrees", 0.9), ("agrees", 20.0), ("disagrees", -20.0), (OPEN, -0.1)],
        ),
        (
            "xlnet",
            {"part": "Its worth"},
            "xlnet_memory",
            {"test": 300},
            {
                "alone": {"before": LOW, "here": HIGH},
                "memory": {"before": HIGH, "here": LOW, "before_forgotten": LOW, "here_forgotten": LOW},
            },
            [("agrees", 20.0), (OPEN, -20.0)],
        ),
        (
            "to_write",
            {"part": "UniLM", "unilm": "claim"},
            "to_write",
            {"masked": 0.25},
            {
                "bert": {"answers": LOW, "next_word": HIGH, "determined": FEW},
                "unilm": {"answers": HIGH, "next_word": LOW, "determined": FEWER},
                "left-to-right": {"next_word": LOW, "determined": FEW},
            },
            [("agrees", 20.0), ("disagrees", -20.0), (LITTLE, 1.0), (OPEN, 0.0), (LITTLE, 0.0)],
        ),
        (
            "what_to_hide",
            {"claim": "mismatch"},
            "what_to_hide",
            {"masked": 0.15, "train": 9, "test": 8},
            {
                "bert": {"determined": HIGH, "corrected": LOW},
                "n-grams": {"determined": LOW, "corrected": HIGH},
                "macbert": {"determined": LOW, "corrected": HIGH},
            },
            [("agrees", 20.0), ("unclear", 0.0), ("agrees", -20.0), ("unclear", 0.0)],
        ),
        (
            "ernie2",
            {"part": "The claim"},
            "ernie2",
            {"asked": 8},
            {
                "continual": dict.fromkeys(("words", "order", "distance", "mean"), HIGH),
                "one_by_one": {"words": LOW, "order": WIDE[::-1], "distance": HIGH, "mean": LOW},
                "together": dict.fromkeys(("words", "mean"), LOW),
            },
            [("agrees", 20.0), ("unclear", 19.0), ("unclear", 0.0), *[("agrees", 20.0)] * 3],
        ),
    ],
)
def test_each_direction_gets_its_verdict(results, page, query, experiment, scale, values, said):
    """The rule itself is tested in tests/minibert: here, that it is put to the two arms of each line, and its sign."""
    records = relative_records(experiment, values, scale)
    write_records(results, experiment, [{**record, "finetuning_seconds": 2.0} for record in records])
    app = open_page(page, owner="me", **{"part": "The claim", **query})
    found = verdicts(app)
    assert [key for key, _ in found] == [key for key, _ in said]
    assert [ours for _, ours in found] == [ours and pytest.approx(ours, abs=0.06) for _, ours in said]


@pytest.mark.parametrize(
    ("page", "query", "said"),
    [
        ("training_options", {"option": "lamb"}, ["agrees", "unclear", LITTLE, LITTLE]),
        ("training_options", {"option": "batches"}, [LITTLE]),
        ("xlnet", {"part": "Its worth"}, ["agrees", OPEN]),
        ("what_to_hide", {"part": "The claim"}, ["disagrees"]),
    ],
)
def test_recorded_verdicts_are_those_that_the_lesson_explains(runs_folder, monkeypatch, page, query, said):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    assert [key for key, _ in verdicts(open_page(page, owner="me", **query))][-len(said) :] == said


@pytest.mark.parametrize("folder", ["nezha-toy/nezha", "xlnet-toy/xlnet", "unilm-toy/unilm"])
def test_a_shipped_relative_and_the_bert_beside_it_have_read_the_same(folder):
    paths = ROOT / "checkpoints" / folder, (ROOT / "checkpoints" / folder).with_name("bert")
    logs = [[json.loads(line) for line in (path / "training.jsonl").read_text().splitlines()] for path in paths]
    one, other = (log[0]["settings"] for log in logs)
    assert {name for name in one if one[name] != other[name]} <= {"relative", "sizes", "objective_options"}
    assert len({[event for event in log if event["event"] == "step"][-1]["tokens"] for log in logs}) == 1
    assert all(weight.isfinite().all() for path in paths for weight in checkpoint.load(path).state_dict().values())


def test_the_diff_is_of_the_running_code(runs_folder):
    lines = list(lines_of(CodeChange("x", MlmHead, Discriminator)))
    theirs, ours = (source_of(part)[0] for part in (MlmHead, Discriminator))
    assert sum(line.sign != "+" for line in lines) == len(theirs)
    assert sum(line.sign != "-" for line in lines) == len(ours)
    app = open_page("electra", owner="me", part="The diff")
    added, gone = (sum(line.sign == sign for line in lines) for sign in "+-")
    assert any(f"+{added} −{gone}" in box.label and "minibert/model.py" in box.label for box in app.expander)
    assert html_of(app).count("mb-diff") == len([box for box in app.expander if "−" in box.label]) > 1


@pytest.mark.parametrize(
    ("page", "query", "differs"),
    [
        (
            "albert",
            {"both-shared": "attention", "both-E": 8, "both-L": 2},
            lambda bert, albert: (
                (albert.config().shared, albert.config().embedding_size, albert.objective.second)
                == ("attention", 8, None)
                and albert.config().num_hidden_layers == bert.config().num_hidden_layers == 2
            ),
        ),
        (
            "albert",
            {"both-pairs": "yes"},
            lambda bert, albert: (
                (bert.objective.second, albert.objective.second, albert.input_format) == ("nsp", "sop", "segment_pair")
            ),
        ),
        (
            "electra",
            {"variant": "electra_15", "width": 16, "masked": 20},
            lambda bert, electra: (
                (electra.objective.variant, electra.config().generator().hidden_size) == ("electra_15", 16)
                and bert.masking == Masking(rate=0.2)
            ),
        ),
        (
            "nezha",
            {"positions": "sinusoids", "clip": 16},
            lambda bert, nezha: (
                (bert.start, nezha.start, nezha.config().max_relative_position) == ("sinusoids", "words", 16)
                and bert.max_length == 32
            ),
        ),
        (
            "xlnet",
            {"context": "all", "both-share": 35},
            lambda bert, xlnet: (
                (xlnet.objective.context, xlnet.objective.share, bert.objective.masking.rate) == ("all", 0.35, 0.35)
            ),
        ),
        ("what_to_hide", {"side": "ngrams"}, lambda bert, other: not other.objective.similar),
        ("to_write", {"part": "UniLM", "unilm": "both"}, lambda bert, unilm: unilm.objective.name == "mlm+masks"),
    ],
)
def test_both_read_the_same_and_differ_in_what_is_chosen(asked_for, page, query, differs):
    app = open_page(page, owner="else", **{"part": "Train both", **query})
    app.slider(key="both-steps").set_value(50)
    whole(app.button(key="train-both").click().run())
    assert [target for target, *_ in asked_for] == ["minibert.toy.pretrain:pretrain_toy"] * 2
    (bert,), (other,) = (arguments for _, arguments, _ in asked_for)
    same = ("steps", "seed", "batch_size", "max_length", "input_format", "optimization", "preset", "masking")
    assert all(getattr(bert, name) == getattr(other, name) for name in same) and bert.steps == 50
    assert bert.relative == "bert" and differs(bert, other)
    kinds = [options["kind"] for _, _, options in asked_for]
    assert len({kind.rpartition("/")[0] for kind in kinds}) == 1 < len({options["title"] for *_, options in asked_for})
    assert kinds[0].startswith(f"{page}/") and len({str(options["probe_inputs"]) for *_, options in asked_for}) == 1


def trained(relative: str, page: str, folder, **sizes):
    """A run of the page's that has learned for a step."""
    settings = replace(
        TOY,
        relative=relative,
        objective_options={"second": None} if relative == "albert" else {},
        minutes=None,
        sizes={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, **sizes},
        steps=1,
        batch_size=2,
        snapshots=(),
    )
    options = {"stories": 12, "probe_inputs": ["soon [MASK] found the rings under the bed."]}
    options |= {"title": relative, "kind": f"{page}/7/{relative}-0"}
    return run_here(("minibert.toy.pretrain:pretrain_toy", (settings,), options), folder, owner=page)


@pytest.mark.parametrize(
    ("page", "sizes"),
    [
        ("electra", {"embedding_size": 32}),
        ("albert", {"embedding_size": 8, "shared": "attention"}),
        pytest.param("nezha", {}, marks=release),
        pytest.param("xlnet", {}, marks=release),
    ],
)
def test_what_was_trained_together_is_drawn_and_opens_in_the_picture_above(runs_folder, tmp_path, page, sizes):
    runs = [trained("bert", page, tmp_path / "bert"), trained(page, page, tmp_path / page, **sizes)]
    app = open_page(page, owner=page, part="Train both", pair=runs[1].id)
    assert app.selectbox(key="pair").value == runs[1].id and not app.error
    curves, answers = figure(app, "both-curves"), figure(app, "both-answers")
    assert {trace["name"] for trace in curves["data"] if trace.get("name")} == {"bert", page}
    samples = [sample["answers"] for run in runs if (sample := run.latest("sample"))]
    blanks = [given[0]["blanks"][0] for given in samples if given]
    bars = [list(trace["customdata"]) for trace in answers["data"] if trace["type"] == "bar"]
    assert bars == [[token for token, _ in blank] for blank in blanks]
    read = [run.latest("step")["tokens"] for run in runs]
    assert read[0] == read[1] > 0
