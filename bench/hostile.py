"""Ten thousand hostile inputs: command line, files, uploads, service, links. Is each answered or refused well and fast?

python -m bench.hostile [--count 10000] [--seed 0] [--only SURFACE] [--from N] [--processes 1] [--record]

An input passes if no exception escapes that a user would see as a traceback, it takes at most LIMIT seconds, no
response of the service has status 500 or is anything but JSON, an error on the command line is one printable line of at
most LONGEST characters, no page renders markup from the link, and memory stays bounded. Inputs are drawn by seed,
surface and number (tests/hostile_inputs.py); `--only files --from 17 --count 1` repeats one and shows it. Most of the
command line is tried in this process, some in a subprocess; pages run without a browser. Seconds are CPU time, since on
a shared machine wall-clock time says little; an input that takes PATIENCE seconds of wall-clock time hangs, too.
"""

from __future__ import annotations

import ast
import gzip
import io
import json
import lzma
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from unittest import mock
from urllib.parse import quote

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from starlette.testclient import TestClient

from bench.machine import arguments, record, recorded
from minibert import checkpoint
from minibert.__main__ import main as minibert
from minibert.config import BertConfig
from minibert.experiments.results import read_records
from minibert.finetune.predictor import Predictor
from minibert.folders import ROOT
from minibert.model import BertForPreTraining
from minibert.pretrain import PretrainSettings, pretrain
from minibert.service.server import Limits, application
from minibert.tasks import TASKS, Options, guess_format, guess_task
from minibert.text.documents import read_documents
from minibert.text.store import TokenStore
from minibert.train import Saved
from minibert.training import resume, snapshots
from tests.hostile_inputs import MARKUP, NUMBERS, a_text, drawing, mutated, mutated_json
from tests.spelling import spelling_tokenizer

LIMIT, PATIENCE, LONGEST = 10, 200, 400  # seconds of CPU time and of wall-clock time; characters
LARGEST_ERROR = 2**16  # characters of an exception's text; whatever shows it truncates it
MEMORY = 3 * 2**30  # bytes that one input may use beyond what the process uses already
SHARES = {
    "subprocesses": 0.002,
    "files": 0.3,
    "uploads": 0.25,
    "service": 0.2,
    "links": 0.005,
}  # the rest: command line
SAMPLES = {
    "classification": "animals/train.tsv",
    "pair": "pairs/train.tsv",
    "similarity": "similarity/train.tsv",
    "multilabel": "emotions/train.tsv",
    "tagging": "entities/train.txt",
    "span": "questions/train.json",
    "span-or-none": "questions-or-none/train.json",
    "choice": "choices/train.csv",
    "intent": "intents/train.md",
    "next-utterance": "dialogues/train.txt",
}
LINES, ARTICLES = 60, 1  # lines, or articles, of a sample
PART = 50  # inputs tried by one process in sequence


class Overdue(BaseException):
    """Not an Exception, so that no handler catches it by accident."""


class Broken(Exception):
    """A response or message violates the rules, without an exception."""


@dataclass(frozen=True)
class Ground:
    """Targets for the inputs, in a folder: a small model per task, a pre-trained one, an interrupted run."""

    folder: Path
    samples: dict[str, bytes]

    @classmethod
    def prepared(cls, folder: Path) -> Ground:
        torch.manual_seed(0)
        folder.mkdir(exist_ok=True)
        tokenizer = spelling_tokenizer()
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        config = BertConfig(vocab_size=tokenizer.vocab_size, max_position_embeddings=64, **sizes)
        samples = {name: sample(ROOT / "lessons" / "data" / file) for name, file in SAMPLES.items()}
        for name, task in TASKS.items():
            (folder / f"{name}{Path(SAMPLES[name]).suffix}").write_bytes(samples[name])
            labels = task.labels(task.parse(samples[name], SAMPLES[name].replace("/", "-")))
            options = Options(max_length=48, doc_stride=16)
            Predictor(task.head(config, labels, options).eval(), tokenizer, task, options).save(
                folder / "models" / name
            )
        checkpoint.save(folder / "models" / "pretrained", BertForPreTraining(config), tokenizer)
        text = "the cat sat on the mat. a dog ran home.\nthen it slept.\n\n" * 20
        (folder / "text.txt").write_text(text)
        run = PretrainSettings(
            preset="tiny",
            sizes=sizes,
            steps=6,
            batch_size=4,
            max_length=16,
            report_every=1,
            save_every=1,
            snapshots=(0.0,),
            vocab_size=60,
            start="random",
        )
        events = pretrain(run, [folder / "text.txt"], folder / "cut-off", cache=folder / "cache")
        next(event for event in events if isinstance(event, Saved) and event.step == 2)
        events.close()
        shutil.copytree(folder / "cut-off", folder / "cut-off-too")  # a copy that the command line may resume
        return cls(folder, samples)

    def model(self, name: str) -> Path:
        return self.folder / "models" / name

    @contextmanager
    def copy(self, source: Path) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self.folder.parent) as folder:
            yield Path(shutil.copytree(source, Path(folder, "copy")))


def sample(file: Path) -> bytes:
    """The beginning of a shipped file: enough to be valid."""
    if file.suffix == ".json":
        root = json.loads(file.read_bytes())
        return json.dumps({**root, "data": root["data"][:ARTICLES]}).encode()
    return b"\n".join(file.read_bytes().split(b"\n")[:LINES]) + b"\n"


# Each of these yields the input, tries it, and yields the error message if it was refused.


def a_command(rng: random.Random, ground: Ground) -> tuple[list[str], bytes]:
    """(arguments, standard input): a valid command with one or two invalid changes."""
    task = rng.choice(list(TASKS))
    model = str(ground.model(rng.choice((task, task, "pretrained"))))
    data = str(ground.folder / f"{task}{Path(SAMPLES[task]).suffix}")
    out = str(ground.folder / "out" / str(rng.randrange(4)))
    text = str(ground.folder / "text.txt")
    learning = ["--max-seconds", "0.2", "--epochs", "1", "--batch-size", "8", "--max-length", "24"]
    pretraining = ["--steps", "1", "--preset", "tiny", "--vocab-size", "60", "--batch-size", "4", "--max-length", "16"]
    pretraining += ["--processes", "1"]
    commands = [
        ["tokenize", "a z", "--vocab", f"{model}/vocab.txt"],
        ["tokenize", "--cased", "--vocab", f"{model}/vocab.txt"],
        ["count", "--preset", "base", "--relative", "albert"],
        ["count", "--config", f"{model}/config.json"],
        ["fill", "a [MASK] b", "--model", str(ground.model("pretrained")), "--top", "3"],
        ["predict", "--model", model, "a z"],
        ["predict", "--model", model],
        ["predict", "--model", model, "--data", data],
        ["predict", "--model", model, "--file", data, "--batch-size", "8"],
        ["evaluate", "--model", model, "--data", data],
        ["evaluate", "--model", str(ground.model("pretrained")), "--data", text, "--max-length", "24"],
        ["finetune", "--task", task, "--train", data, "--model", model, "--out", out, *learning],
        ["finetune", "--task", task, "--train", data, "--columns", "text=1", "label=2", "--out", out, *learning],
        ["pretrain", "--data", text, "--out", out, "--sizes", "num_hidden_layers=1", "--dev", text, *pretraining],
        ["pretrain", "--data", text, "--out", str(ground.folder / "cut-off-too"), "--resume", *pretraining],
        ["average", model, model, "--out", out],
        ["export", "--model", model, "--out", out, "--dtype", "float16"],
        ["experiment", "features", "--tasks", data, "--out", data, "--seeds", "1", "--model", "nowhere"],
        ["serve", "--model", "nowhere", "--port", "0", "--window", "1"],
    ]
    command = rng.choice(commands)
    command += ["--cache", str(ground.folder / "cache")] if command[0] == "pretrain" else []
    # Not replaced: these options could start runs of hours, which are long but not hostile.
    long = {"--steps", "--epochs", "--max-seconds", "--threads", "--processes", "--seeds", "--out", "--cache"}
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(1, len(command))
        if command[at] in long or command[at - 1] in long or (command[0], at) == ("serve", 2):
            continue
        places = (str(ground.folder), "/dev/null", data, text, model, "/proc/self/mem", f"{model}/model.safetensors")
        drawn = rng.choice((*places, a_text(rng), rng.choice(NUMBERS), ""))
        command[at] = drawn.replace("\0", "")[:30_000]  # the system passes no zero byte, and at most 128 KB
        if rng.random() < 0.1:
            del command[at]
        if at >= len(command) - 1:
            break
    given = b"\n".join(a_text(rng, 5000).encode("utf-8", "surrogatepass") for _ in range(rng.randrange(4)))
    return [*command, *rng.choice(([], [], ["--json"]))], mutated(rng, given) if rng.random() < 0.3 else given


def command_line(rng: random.Random, ground: Ground) -> Iterator[object]:
    arguments, given = a_command(rng, ground)
    yield arguments
    files = [io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") for content in (given, b"", b"")]
    nowhere = ground.folder / "nothing is here"  # "" is a valid path: the current folder
    nowhere.mkdir(exist_ok=True)
    with chdir(nowhere), mock.patch("sys.stdin", files[0]), redirect_stdout(files[1]), redirect_stderr(files[2]):
        try:
            code = minibert(arguments)
        except SystemExit as end:  # argparse's
            code = end.code
    files[2].flush()
    check_command(code, files[2].buffer.getvalue())
    if code:
        yield files[2].buffer.getvalue()


def subprocesses(rng: random.Random, ground: Ground) -> Iterator[object]:
    arguments, given = a_command(rng, ground)
    yield arguments
    done = subprocess.run([sys.executable, "-m", "minibert", *arguments], input=given, capture_output=True, cwd=ROOT)
    check_command(done.returncode, done.stderr)
    if done.returncode:
        yield done.stderr


def refused(error: Exception) -> str:
    """The message of the error that refused an input."""
    if len(message := str(error)) > LARGEST_ERROR:
        raise Broken(f"an error of {len(message)} characters: {message[:300]}") from error
    return message


def check_command(code: object, stderr: bytes) -> None:
    text = stderr.decode("utf-8", "backslashreplace")
    if "Traceback" in text or "panicked" in text:
        raise Broken(text[-2000:])
    if code not in (0, 2):
        raise Broken(f"exit {code}: {text[-500:]}")
    lines = [line for line in text.replace("\r", "\n").split("\n") if not line.startswith(("usage", " "))]
    if bad := [line for line in lines if len(line) > LONGEST or not line.isprintable()]:
        raise Broken(f"a line of {len(bad[0])} characters: {bad[0][:500]!r}")


# --- files ------------------------------------------------------------------------------------------------------------


def files(rng: random.Random, ground: Ground) -> Iterator[object]:
    """Damage a model's directory, or the files of a run, then use them."""
    what = rng.choice(("model", "model", "model", "resume", "log", "snapshot", "store"))
    name = rng.choice((*TASKS, "pretrained"))
    source = ground.model(name) if what == "model" else ground.folder / "cut-off"
    with ground.copy(source) as folder:
        if what == "store":
            TokenStore.build([["a b", "c"]], spelling_tokenizer(), folder / "tokens")
        places = {
            "model": [
                *["config.json"] * 3,
                "tokenizer_config.json",
                "tokenizer.json",
                "vocab.txt",
                "model.safetensors",
            ],
            "resume": [
                f"resume/{state.name}/{part}"
                for state in (folder / "resume").glob("step-*")
                for part in ("state.json", "state.json", "optimizer.safetensors", "config.json", resume.SUMS)
            ],
            "log": ["training.jsonl"],
            "snapshot": ["steps/step-00000000.safetensors"],
            "store": ["tokens/store.json", "tokens/ids", "tokens/sentences", "tokens/documents"],
        }[what]
        damaged = [rng.choice(places) for _ in range(rng.choice((1, 1, 2)))]
        for place in damaged:
            if (folder / place).exists():
                damage(rng, folder / place)
        if what == "resume" and rng.random() < 0.8:  # like an older state, without checksums
            for sums in folder.glob(f"resume/*/{resume.SUMS}"):
                sums.unlink()
        if what == "model" and rng.random() < 0.3:
            (folder / "vocab.txt").unlink(missing_ok=True)
        yield f"{name}, {what}: {', '.join(damaged)}"
        try:
            use(what, folder, ground.folder / "text.txt")
        except (ValueError, OSError) as error:
            yield refused(error)


def damage(rng: random.Random, file: Path) -> None:
    content = file.read_bytes()
    if file.suffix == ".json" and rng.random() < 0.9:
        file.write_bytes(mutated_json(rng, content))
    elif file.suffix == ".safetensors" and rng.random() < 0.7:
        try:
            tensors = load_file(file)
        except Exception:  # already damaged
            return
        name = rng.choice(list(tensors))
        match rng.randrange(6):
            case 0:
                tensors[name] = torch.full(tensors[name].shape, rng.choice((float("nan"), float("inf"), 3e38)))
            case 1:
                del tensors[name]
            case 2:
                tensors[name] = tensors[name].flatten()[:1].clone()
            case 3:
                tensors[a_text(rng, 50) or "x"] = torch.zeros(2)
            case 4:
                tensors[name] = tensors[name].to(rng.choice((torch.int8, torch.bool, torch.float64, torch.bfloat16)))
            case _:
                tensors = {each: torch.full(value.shape, 1e30) for each, value in tensors.items()}
        save_file(tensors, file, metadata={"format": "pt"})
    else:
        file.write_bytes(mutated(rng, content))


def use(what: str, folder: Path, text: Path) -> None:
    if what == "model":
        predictor = Predictor.from_directory(folder)
        with TestClient(application(predictor)) as client:
            check_answer(client.get("/schema"))
            check_answer(client.post("/predict", json={"inputs": [predictor.task.example_input]}))
    elif what == "resume":
        events = pretrain(
            PretrainSettings.from_dict(resume.require_latest(folder).values["settings"]),
            [text],
            folder,
            cache=text.parent / "cache",
            resuming=True,
        )
        for _ in events:
            pass
    elif what == "log":
        read_records(folder / "training.jsonl", {"event"})
    elif what == "snapshot":
        for one in snapshots.listed(folder):
            snapshots.load(folder, one)
    else:
        store = TokenStore.open(folder / "tokens")
        for index in range(min(len(store), 10)):
            list(store.document(index))


# --- uploads ----------------------------------------------------------------------------------------------------------


def uploads(rng: random.Random, ground: Ground) -> Iterator[object]:
    """A damaged file for a task, or text for pre-training, read as the page and the command line do."""
    if rng.random() < 0.2:
        yield from text_files(rng, ground)
        return
    task = TASKS[rng.choice(list(TASKS))]
    content = ground.samples[rng.choice((task.name, task.name, rng.choice(list(TASKS))))]
    content = mutated_json(rng, content) if content.startswith(b"{") and rng.random() < 0.7 else mutated(rng, content)
    name = rng.choice(("a.tsv", "a.csv", "a.txt", "a.json", "a.md", "a", "labels.txt", MARKUP, "../a.csv"))
    name = name if rng.random() < 0.4 else f"a{Path(SAMPLES[task.name]).suffix}"
    format = rng.choice((*task.readers, "header", "nothing")) if rng.random() < 0.3 else None
    columns = {
        what: rng.choice((1, 2, 99, -1, "label", a_text(rng, 20))) for what in task.columns if rng.random() < 0.3
    }
    beside = (
        {"labels.txt": mutated(rng, b"joy\nfear\n"), "a.ans": mutated(rng, b"A B\tC\n")} if rng.random() < 0.3 else {}
    )
    yield f"{task.name}, {name}, {format}, {columns}, {content[:300]!r}"
    try:
        guess_format(content, name, guess_task(content, name))
        data = task.parse(content, name, format, rng.random() < 0.2, None, beside, columns)
        predictor = Predictor.from_directory(ground.model(task.name))
        answers = predictor.answers(data.examples[:4])[0]
        task.score(answers, data.examples[:4])
        json.dumps([[str(problem) for problem in data.problems[:100]], answers])
    except (ValueError, OSError) as error:
        yield refused(error)


def text_files(rng: random.Random, ground: Ground) -> Iterator[object]:
    lines = "".join(json.dumps({"text": a_text(rng)}) + "\n" for _ in range(rng.randrange(1, 5))).encode()
    content = mutated(rng, rng.choice((lines, (ground.folder / "text.txt").read_bytes(), a_text(rng).encode() + b"\n")))
    with tempfile.TemporaryDirectory(dir=ground.folder) as folder:
        name = rng.choice(("a.txt", "a.jsonl", "a.txt.gz", "a.jsonl.xz", "a.json"))
        packed = (
            gzip.compress(content)
            if name.endswith("gz")
            else lzma.compress(content)
            if name.endswith("xz")
            else content
        )
        Path(folder, name).write_bytes(mutated(rng, packed) if rng.random() < 0.3 else packed)
        yield f"{name}: {content[:300]!r}"
        try:
            skipped: list[str] = []
            paths = [Path(folder, name)] if rng.random() < 0.5 else [Path(folder)]
            TokenStore.build(read_documents(paths, skipped), spelling_tokenizer())
        except (ValueError, OSError) as error:
            yield refused(error)


# --- service ----------------------------------------------------------------------------------------------------------


def service(rng: random.Random, ground: Ground) -> Iterator[object]:
    task = TASKS[rng.choice(list(TASKS))]
    good = json.dumps({"inputs": [task.example_input] * rng.randrange(1, 4)}).encode()
    body = mutated_json(rng, good) if rng.random() < 0.7 else mutated(rng, good)
    method = rng.choice(("POST", "POST", "POST", "POST", "GET", "PUT", "HEAD", "OPTIONS"))
    path = rng.choice(("/predict", "/predict", "/predict", "/predict", "/schema", "/health", "/" + a_text(rng, 200)))
    yield f"{task.name}: {method} {path[:100]!r} {body[:300]!r}"
    client = client_of(ground, task.name)
    answer = client.request(method, quote(path, "/?%&=", errors="replace"), content=body)
    check_answer(answer)
    if answer.status_code >= 400:
        yield answer.text


_clients: dict[str, TestClient] = {}


def client_of(ground: Ground, task: str) -> TestClient:
    """One service per task for all requests, as in use."""
    if task not in _clients:
        predictor = Predictor.from_directory(ground.model(task))
        _clients[task] = TestClient(application(predictor, Limits(characters=5000))).__enter__()
    return _clients[task]


def check_answer(answer) -> None:
    if answer.status_code >= 500 and answer.status_code != 503:
        raise Broken(f"status {answer.status_code}: {answer.text[:300]}")
    kind = answer.headers.get("content-type", "")
    if answer.content and kind != "application/json":
        raise Broken(f"an answer of the type {kind!r}")
    if answer.content:
        json.loads(answer.content, parse_constant=not_json)
    if answer.status_code >= 400 and len(answer.content) > 1000:
        raise Broken(f"an error of {len(answer.content)} bytes: {answer.text[:300]}")


def not_json(name: str) -> None:
    raise Broken(f"{name} in an answer, which is no JSON")


# --- links ------------------------------------------------------------------------------------------------------------


def links(rng: random.Random, ground: Ground) -> Iterator[object]:
    """A page opened by a link with values that no page would write."""
    import examination.bank  # noqa: F401 – first: the page of the same name would shadow it
    from tests.pages.driver import assert_no_markup, open_page

    page = rng.choice(sorted(file.stem for file in (ROOT / "pages").glob("*.py")))
    names = link_names(page)
    query = {
        rng.choice(names): rng.choice((a_text(rng, 3000), rng.choice(NUMBERS), MARKUP))
        for _ in range(rng.randrange(1, 6))
    }
    query = {name: value.encode("utf-8", "replace").decode() for name, value in query.items()}
    yield f"{page}: {str(query)[:600]}"
    with mock.patch.dict(os.environ, {"MINIBERT_RUNS": str(ground.folder / "runs")}):
        app = open_page(page, **query)
    assert_no_markup(app)
    if any("<img src=x" in frame.proto.srcdoc for frame in app.get("iframe")):
        raise Broken("what came in the link is shown as markup")


def link_names(page: str) -> list[str]:
    """Possible names in a page's link: all strings in its code that look like names, and those of `ui`."""

    texts = [ROOT / "pages" / f"{page}.py", *(ROOT / "sections" / page).rglob("*.py")]
    found = {
        node.value
        for file in texts
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.replace("-", "_").isidentifier()
    }
    return sorted(
        {*found, "text", "pair", "model", "layer", "head", "step", "part", "seed", "projector", "lang", MARKUP}
    )


# --- trying -----------------------------------------------------------------------------------------------------------

SURFACES: dict[str, Callable[[random.Random, Ground], Iterator]] = {
    "command line": command_line,
    "subprocesses": subprocesses,
    "files": files,
    "uploads": uploads,
    "service": service,
    "links": links,
}


@dataclass(frozen=True)
class Trial:
    """One input and its outcome. refused: with a message, as most should be · wrong: None if it passed · megabytes:
    growth of the process at its peak."""

    surface: str
    number: int
    given: str
    refused: bool
    wrong: str | None
    seconds: float
    megabytes: float


def tried(surface: str, number: int, seed: int, ground: Ground) -> Trial:
    rng = drawing(seed, surface, number)
    torch.manual_seed(number)
    given, refused, wrong = "", False, None
    before = reset_peak()
    begun = used()
    try:
        with at_most(LIMIT if surface != "links" else 6 * LIMIT):  # the first page opened includes all imports
            steps = SURFACES[surface](rng, ground)
            given = str(next(steps, ""))
            begun = used()
            refused = bool([*steps])
    except Overdue as hang:
        wrong = f"took more than {LIMIT} seconds: {''.join(traceback.format_tb(hang.__traceback__)[-3:])}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        wrong = "".join(traceback.format_exception(error))[-3000:]
    seconds = used() - begun
    if wrong is None and seconds > 6 * LIMIT:  # time in subprocesses is not limited by `at_most`
        wrong = f"took {seconds:.0f} seconds"
    grown = max(0, peak() - before)
    if wrong is None and grown > MEMORY / 2**20:
        wrong = f"took {grown:.0f} MB"
    return Trial(surface, number, given, refused, wrong, seconds, grown)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    def stop(*_) -> None:
        raise Overdue

    timers = {signal.ITIMER_PROF: (signal.SIGPROF, seconds), signal.ITIMER_REAL: (signal.SIGALRM, PATIENCE)}
    usual = {number: signal.signal(number, stop) for number, _ in timers.values()}
    for timer, (_, after) in timers.items():
        signal.setitimer(timer, after)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in usual.items():
            signal.signal(number, handler)


def used() -> float:
    """CPU seconds of this process and of the children it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def reset_peak() -> float:
    """Reset the peak memory of the process; return the megabytes it uses now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak("VmRSS")


def peak(name: str = "VmHWM") -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def counts(count: int) -> dict[str, int]:
    """The number of inputs for each surface."""
    numbers = {name: round(count * share) for name, share in SHARES.items()}
    return {"command line": count - sum(numbers.values()), **numbers}


def bounded_memory() -> None:
    """Limit the address space: allocating 100 GB fails instead of exhausting the machine."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + 2 * MEMORY, resource.RLIM_INFINITY))


def summary(trials: list[Trial], seed: int) -> dict:
    """The results to record."""
    by_surface = {}
    for name in SURFACES:
        of_it = [trial for trial in trials if trial.surface == name]
        if of_it:
            seconds = np.array([trial.seconds for trial in of_it])
            by_surface[name] = {
                "inputs": len(of_it),
                "refused": sum(trial.refused for trial in of_it),
                "wrong": sum(trial.wrong is not None for trial in of_it),
                "seconds, median": round(float(np.median(seconds)), 4),
                "seconds, longest": round(float(seconds.max()), 2),
                "megabytes more at the peak, most": round(max(trial.megabytes for trial in of_it)),
            }
    reasons = {(t.surface, t.number): t.wrong.replace(f"{ROOT}/", "")[-300:] for t in trials if t.wrong}
    wrong = [{"surface": surface, "number": number, "why": why} for (surface, number), why in reasons.items()]
    return {"seed": seed, "inputs": len(trials), "wrong": len(wrong), "surfaces": by_surface, "which": wrong}


def tried_alone(surface: str, numbers: range, seed: int, ground: Ground) -> list[dict]:
    """Try inputs in a process of its own, on a copy of the ground. Prints the first failure of each kind at once."""
    trials, kinds = [], Counter()
    with ground.copy(ground.folder) as folder:
        mine = replace(ground, folder=folder)
        bounded_memory()
        for number in numbers:
            trials.append(trial := tried(surface, number, seed, mine))
            if trial.wrong is not None:
                kinds[kind := trial.wrong.strip().splitlines()[-1][:100]] += 1
                if kinds[kind] == 1:
                    print(f"\n{surface} {number}: {trial.given[:600]}\n{trial.wrong}", flush=True)
    print(f"{surface} {numbers.start} … {numbers.stop - 1}: {kinds.total()} wrong", flush=True)
    return [asdict(trial) for trial in trials]  # a page opened here has replaced __main__: Trial cannot be pickled


def main() -> None:
    parser = arguments(__doc__, "hostile")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=SURFACES)
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first input of each surface")
    parser.add_argument("--processes", type=int, default=1, help="side by side (default: 1)")
    parser.add_argument("--minutes", type=float, help="of the clock, then no more are begun")
    parser.add_argument("--again", action="store_true", help="only what was wrong when it was recorded, after mending")
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # processes are forked
    torch.set_num_threads(1)
    last = {name: options.first + n for name, n in counts(options.count).items()}
    last = {options.only: options.first + options.count} if options.only else last
    parts = [
        (name, range(at, min(at + PART, end))) for name, end in last.items() for at in range(options.first, end, PART)
    ]
    random.Random(0).shuffle(parts)  # spread the slow ones
    before = recorded("hostile") if options.again else {}
    if options.again:
        parts = [(one["surface"], range(one["number"], one["number"] + 1)) for one in before["which"]]
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
        ground = Ground.prepared(Path(folder, "ground"))
        with ProcessPoolExecutor(options.processes, get_context("fork")) as pool:
            trials, begun = [], time.monotonic()
            for part in as_completed(pool.submit(tried_alone, *part, options.seed, ground) for part in parts):
                trials += [Trial(**one) for one in part.result()]
                if options.minutes and time.monotonic() - begun > 60 * options.minutes:
                    pool.shutdown(cancel_futures=True)
                    break
    results = summary(trials, options.seed)
    if options.again:
        results = {**before, "still wrong after mending": results["wrong"]}
    print(json.dumps({**results, "which": len(results["which"])}, indent=1))
    record(options.record, results)


if __name__ == "__main__":
    from bench import hostile  # pages replace __main__, where pickle would not find its functions

    hostile.main()
