"""Every button that begins a run names a function that is there and gives it arguments that it takes, and each of the
files that begin one is known here: read in the source, and pressed, without a run and without training."""

import ast
import inspect
import pickle
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

import pytest

from tests.pages.driver import ROOT, open_page, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from ui.classifiers import EVERYONE, RECIPES

# What begins a run: the place of its target among the arguments, and the options that its target does not see.
BEGIN = {"submit": (0, {"owner", "title", "kind", "address"}), "compute": (1, {"title"}), "apart": (0, set())}
PASS_ON = {("ui/runs.py", "submit"), ("ui/computations.py", "compute")}  # where `target` is what they were given
GIVEN = {"out", "mailbox"}  # by the worker: jobs.worker.events_of

# The file that begins a run: its page, the part of it, and the button.
PRESSED = {
    "sections/cone/flow.py": ("cone", "Flow", "train-flow"),
    "sections/dialogue/learn.py": ("dialogue", "Train", "train-diet"),
    "sections/embeddings/rising.py": ("embeddings", None, "compute"),
    "sections/encoder_decoder/training.py": ("encoder_decoder", "Train a Transformer", "train"),
    "sections/experiments/own_run.py": ("experiments", "Run one now", "run-small"),
    "sections/features/two_runs.py": ("features", None, "run-two"),
    "sections/few_labels/ensemble.py": ("few_labels", "Several patterns", "train-ensemble"),
    "sections/few_labels/train.py": ("few_labels", "Train with few", "train-few"),
    "sections/knowledge/entities.py": ("knowledge", "Entities", "train-knowledge-entities"),
    "sections/knowledge/right_name.py": ("knowledge", "Right name?", "train-knowledge-names"),
    "sections/knowledge/roles.py": ("knowledge", "Roles", "train-knowledge-roles"),
    "sections/nezha/batches.py": ("nezha", "Batches", "train-batches"),
    "sections/pretraining/trainings.py": ("pretraining", None, "train"),
    "sections/probes/asking.py": ("probes", "Ask every layer", "probe"),
    "sections/sentence_vectors/learn.py": ("sentence_vectors", "Train SimCSE", "train-vectors"),
    "sections/sentence_vectors/write_live.py": ("sentence_vectors", "Find and write", "train-simbert"),
    "sections/service/subject.py": ("service", None, "train"),
    "sections/smaller/cut.py": ("smaller", "Cut away", "retrain"),
    "sections/smaller/learn.py": ("smaller", None, "train-smaller"),
    "sections/smaller/search.py": ("smaller", "Search", "begin-search"),
    "sections/stability/own_grid.py": ("stability", None, "start"),
    "sections/to_write/answers.py": ("to_write", "Ask and answer", "train-answers"),
    "sections/to_write/corrector.py": ("to_write", "Corrector", "train-corrector"),
    "sections/to_write/restores.py": ("to_write", "BART restores", "train-bart"),
    "sections/what_to_hide/continual.py": ("what_to_hide", "One task after another", "train-ernie2"),
    "sections/wrong_reasons/falls.py": ("wrong_reasons", None, "train"),
    "sections/xlnet/remembering.py": ("xlnet", "Its worth", "train-memory"),
    "ui/classifiers.py": ("smaller", "Cut away", "train-reviews"),
    "ui/finetune_runs.py": ("output_layer", None, "train"),
    "ui/train_both.py": ("albert", "Train both", "train-both"),
}


class Call(NamedTuple):
    """A call that begins a run, as far as it can be read. whole: nothing of its arguments is hidden behind a star."""

    place: str
    targets: list[str]
    positional: int
    names: set[str]
    whole: bool


def within(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a function (or module) but those of functions inside it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, ast.FunctionDef):
            yield node
            yield from within(node)


def strings(node: ast.AST) -> list[str]:
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def assigned_in(scope: ast.AST) -> dict[str, list[ast.AST]]:
    """What is assigned to each name; `options["watch"] = …` as `{"watch": …}`."""
    found: dict[str, list[ast.AST]] = {}
    for node in within(scope):
        if isinstance(node, ast.Assign | ast.AugAssign):
            for to in node.targets if isinstance(node, ast.Assign) else [node.target]:
                keyed = isinstance(to, ast.Subscript)
                value = ast.Dict([to.slice], [node.value]) if keyed else node.value
                found.setdefault(getattr(to.value if keyed else to, "id", ""), []).append(value)
    return found


def call_of(node: ast.Call, name: str, given: list[ast.AST], assigned: dict[str, list[ast.AST]], file: str) -> Call:
    def behind(one: ast.AST) -> list[ast.AST]:
        """What a name may stand for; else the node itself."""
        return assigned.get(one.id, []) if isinstance(one, ast.Name) else [one]

    place, options = BEGIN[name]
    target, *given = given[place:]
    stars = [one.value for one in given if isinstance(one, ast.Starred)]
    tuples = [value for one in stars for value in behind(one) if isinstance(value, ast.Tuple)]
    spread = [one.value for one in node.keywords if not one.arg]
    dicts = [
        [each for value in behind(one) for each in ast.walk(value) if isinstance(each, ast.Dict)] for one in spread
    ]
    names = {one.arg for one in node.keywords if one.arg}
    names |= {key.value for some in dicts for one in some for key in one.keys if isinstance(key, ast.Constant)}
    return Call(
        f"{file}:{node.lineno}",
        [text for value in behind(target) for text in strings(value)],
        len(given) - len(stars) + sum(len(one.elts) for one in tuples),
        names - options,
        len(tuples) == len(stars) and all(dicts),
    )


def calls_of(source: str, file: str) -> list[Call]:
    found = []
    for scope in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Module | ast.FunctionDef)):
        if (file, getattr(scope, "name", "")) in PASS_ON:
            continue
        for node in within(scope):
            if isinstance(node, ast.Call):
                name, given = getattr(node.func, "id", getattr(node.func, "attr", "")), node.args
                if name == "partial":
                    name, given = getattr(given[0], "id", ""), given[1:]
                if name in BEGIN:
                    found.append(call_of(node, name, given, assigned_in(scope), file))
    return found


@cache
def beginning() -> list[Call]:
    files = [file for folder in ("pages", "sections", "ui") for file in sorted((ROOT / folder).rglob("*.py"))]
    sources = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}
    return [
        call for file, source in sources.items() if any(map(source.count, BEGIN)) for call in calls_of(source, file)
    ]


def problem_of(target: str, positional: int, names: Collection[str], whole: bool = True) -> str | None:
    """Why a worker could not begin this."""
    module, _, name = target.partition(":")
    try:
        signature = inspect.signature(getattr(import_module(module), name))
        given = dict.fromkeys([*names, *(GIVEN & set(signature.parameters))])
        (signature.bind if whole else signature.bind_partial)(*[None] * positional, **given)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        return f"{target}: {error}"
    return None


def wrong(calls: list[Call]) -> list[str]:
    unread = [f"{call.place}: its target cannot be read" for call in calls if not call.targets]
    each = [(call, problem_of(target, *call[2:])) for call in calls for target in call.targets]
    return unread + [f"{call.place}: {problem}" for call, problem in each if problem]


def test_every_target_is_there_and_takes_what_it_is_given():
    assert not wrong(beginning())


def test_no_file_that_begins_a_run_is_forgotten():
    begin = {call.place.split(":")[0] for call in beginning()} - {"ui/task_data.py"}  # which only reads, in between
    assert begin == set(PRESSED)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('submit("minibert.finetune.run:finetone", title="x")', "finetone"),
        ('task = "minibert.finetune.runs:finetune"\nsubmit(task, title="x")', "No module"),
        ('compute(name, "minibert.pretrain:pretrain", settings, [], wach=[], title="x")', "wach"),
        ('partial(compute, name, "minibert.pretrain:pretrain", settings, title="x")', "data"),
        (
            'more = {"wach": 1} if x else {}\nmanager().submit("minibert.pretrain:pretrain", settings, [], **more)',
            "wach",
        ),
        ("submit(chosen, settings)", "read"),
    ],
)
def test_a_wrong_call_is_found(source, says):
    (problem,) = wrong(calls_of(source, "new.py"))
    assert says in problem


@pytest.fixture
def classifier(runs_folder, tmp_path):
    """The class's, which is there for this test alone."""
    from minibert.tasks import Example
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
    query = {"part": part} if part else {"method": "tsne"} if page == "embeddings" else {}
    app = open_page(page, **query)
    whole(app.button(key=button).click().run())
    calls = [(target, len(arguments), options.keys() - BEGIN["submit"][1]) for target, arguments, options in asked_for]
    assert calls and not [problem for call in calls if (problem := problem_of(*call))]
    assert {target for target, *_ in asked_for} <= {
        target for call in beginning() if call.place.startswith(f"{file}:") for target in call.targets
    }
    for target, arguments, options in asked_for:
        module, _, name = target.partition(":")
        assert inspect.isgeneratorfunction(getattr(import_module(module), name))
        pickle.dumps((arguments, options))
