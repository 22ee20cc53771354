"""Every button that begins a run names a function that is there and gives it arguments that it takes, and each of the
files that begin one is known here: read in the source, and pressed, without a run and without training."""

import inspect
import pickle
import re
from collections.abc import Callable, Collection
from importlib import import_module

import pytest

from minibert.tasks import Example
from tests.pages.driver import ROOT, open_page, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from ui.classifiers import EVERYONE, RECIPES

BEGINS = re.compile(r"(?<!def )\b(?:submit|compute)\(|partial\(compute,")
TARGET = re.compile(r'"((?:\w+\.)+\w+:\w+)"')
PASS_ON = {"ui/runs.py", "ui/computations.py"}  # what they were given
OPTIONS = {"owner", "title", "kind", "address"}  # that the target does not see
GIVEN = {"out", "mailbox"}  # by the worker: jobs.worker.start_generator

# The file that begins a run: its page, the part of it or what its link says, and the button.
PRESSED = {
    "sections/cone/flow.py": ("cone", "Flow", "train-flow"),
    "sections/dialogue/learn.py": ("dialogue", "Train", "train-diet"),
    "sections/embeddings/rising.py": ("embeddings", {"method": "tsne"}, "compute"),
    "sections/encoder_decoder/training.py": ("encoder_decoder", "Train a Transformer", "train"),
    "sections/experiments/own_run.py": ("experiments", "Run one now", "run-small"),
    "sections/features/two_runs.py": ("features", None, "run-two"),
    "sections/few_labels/ensemble.py": ("few_labels", "Several patterns", "train-ensemble"),
    "sections/few_labels/train.py": ("few_labels", "Train with few", "train-few"),
    "sections/knowledge/entities.py": ("knowledge", "Entities", "train-knowledge-entities"),
    "sections/knowledge/right_name.py": ("knowledge", "Right name?", "train-knowledge-names"),
    "sections/knowledge/roles.py": ("knowledge", "Roles", "train-knowledge-roles"),
    "sections/pretraining/trainings.py": ("pretraining", None, "train"),
    "sections/probes/asking.py": ("probes", "Ask every layer", "probe"),
    "sections/sentence_vectors/learn.py": ("sentence_vectors", "Train SimCSE", "train-vectors"),
    "sections/sentence_vectors/find_write.py": ("sentence_vectors", "Find and write", "train-simbert"),
    "sections/service/subject.py": ("service", None, "train"),
    "sections/smaller/cut.py": ("smaller", "Cut away", "retrain"),
    "sections/smaller/learn.py": ("smaller", None, "train-smaller"),
    "sections/smaller/search.py": ("smaller", "Search", "begin-search"),
    "sections/stability/own_grid.py": ("stability", None, "start"),
    "sections/to_write/answers.py": ("to_write", {"unilm": "answers"}, "train-answers"),
    "sections/to_write/corrector.py": ("to_write", {"part": "BERT", "bert": "corrector"}, "train-corrector"),
    "sections/to_write/restores.py": ("to_write", {"part": "BART", "bart": "restores"}, "train-bart"),
    "sections/training_options/batches.py": ("training_options", {"option": "batches"}, "train-batches"),
    "sections/ernie2/train.py": ("ernie2", "Three ways", "train-ernie2"),
    "sections/wrong_reasons/falls.py": ("wrong_reasons", None, "train"),
    "sections/xlnet/remembering.py": ("xlnet", "Its worth", "train-memory"),
    "ui/classifiers.py": ("smaller", "Cut away", "train-reviews"),
    "ui/finetune_runs.py": ("output_layer", None, "train"),
    "ui/train_both.py": ("albert", "Train both", "train-both"),
}


def named(target: str) -> Callable:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def problem_of(target: str, positional: int, names: Collection[str]) -> str | None:
    """Why a worker could not begin this."""
    try:
        signature = inspect.signature(named(target))
        given = dict.fromkeys([*names, *(GIVEN & set(signature.parameters))])
        signature.bind(*[None] * positional, **given)
    except (ImportError, AttributeError, TypeError) as error:
        return f"{target}: {error}"
    return None


def targets_of_files() -> dict[str, list[str]]:
    """Of each file that begins a run: what it begins."""
    files = [file for folder in ("pages", "sections", "ui") for file in (ROOT / folder).rglob("*.py")]
    sources = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}
    return {
        file: TARGET.findall(source)
        for file, source in sources.items()
        if BEGINS.search(source) and file not in PASS_ON
    }


def test_every_target_is_there_and_no_file_that_begins_a_run_is_forgotten():
    found = targets_of_files()
    assert found.keys() == PRESSED.keys() and all(found.values())
    assert all(inspect.isgeneratorfunction(named(target)) for targets in found.values() for target in targets)


@pytest.mark.parametrize(
    ("target", "positional", "names", "says"),
    [
        ("minibert.finetune.run:finetone", 5, (), "finetone"),
        ("minibert.finetune.runs:finetune", 5, (), "No module"),
        ("minibert.pretrain:pretrain", 2, ("wach",), "wach"),
        ("minibert.pretrain:pretrain", 1, (), "data"),
    ],
)
def test_a_wrong_call_is_found(target, positional, names, says):
    assert says in problem_of(target, positional, names)


@pytest.fixture
def classifier(runs_folder, tmp_path):
    """The class's, which is there for this test alone."""
    from ui.runs import manager

    some = [Example(text, label) for text, label in (("good", "positive"), ("bad", "negative"))]
    model = spelling_predictor("classification", ["negative", "positive"])
    run = finished_run(manager(), tmp_path, model, some, kind=RECIPES[0].kind, owner=EVERYONE)
    yield
    manager().delete(run)


@pytest.mark.parametrize("file", PRESSED)
def test_a_button_asks_for_what_a_worker_can_begin(asked_for, file, request):
    page, part, button = PRESSED[file]
    if button == "retrain":
        request.getfixturevalue("classifier")
    app = open_page(page, **({"part": part} if isinstance(part, str) else part or {}))
    whole(app.button(key=button).click().run())
    assert asked_for and {target for target, *_ in asked_for} <= set(targets_of_files()[file])
    for target, arguments, options in asked_for:
        assert problem_of(target, len(arguments), options.keys() - OPTIONS) is None
        pickle.dumps((arguments, options))
