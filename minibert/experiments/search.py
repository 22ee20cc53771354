"""One-shot search: do inherited weights rank the candidates as separate training does, and is the best candidate better
than the same shape trained alone?"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from minibert import checkpoint
from minibert.experiments.pruning import DATA, FILES, ROOT, TASK, drawn, settings_of
from minibert.experiments.relative_catalogue import RelativeExperiment, SearchScale
from minibert.experiments.runner import Run
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.inside.costs.cost import measure
from minibert.pruning.cut import cut
from minibert.pruning.run import TIMED_TEXTS, retrain
from minibert.pruning.search import Candidate, SearchSpace, SubNetwork, best_within, ranked, super_network
from minibert.tasks import TaskData
from minibert.train import Done, Eval, Event, Step
from minibert.training.statistics import rank_correlation


class Searching:
    """One seed: the trained super-network and its evaluated parts. candidates: in the order of the ranking · found: the
    best within the budget · drawn: another one within the budget, drawn with the seed."""

    def __init__(self, scale: SearchScale, data: TaskData, dev: TaskData, seed: int):
        self.scale, self.data, self.dev, self.seed, space = scale, data, dev, seed, SearchSpace()
        learner, predictor = super_network(ROOT / scale.begins_with, TASK, data, dev, settings_of(scale, seed), space)
        self.done = run_through(retrain(predictor, data, dev, settings_of(scale, seed), learner=learner))
        self.predictor = replace(predictor, model=predictor.model.eval())
        self.candidates = list(ranked(self.predictor, space, dev))
        whole = self.candidates[-1].milliseconds
        self.found = best_within(self.candidates, scale.share * whole)
        fast = [one for one in self.candidates if one.milliseconds <= scale.share * whole and one is not self.found]
        self.drawn = random.Random(seed).choice(fast or [self.found])

    @property
    def again(self) -> TaskData:
        return self.data.take(list(range(self.scale.again)))

    def went_on(self, one: Candidate) -> tuple[Done, Predictor]:
        """Cut the candidate out of the super-network and train it further."""
        keep = part_of(one).keep(self.predictor.model.config)
        small = replace(self.predictor, model=cut(self.predictor.model, keep))
        settings = settings_of(self.scale, self.seed, again=True)
        return run_through(retrain(small, self.again, self.dev, settings)), small

    def alone(self, one: Candidate, data: TaskData, epochs: int, folder: Path) -> tuple[Done, Predictor]:
        """Cut the same shape out of the pre-trained model and fine-tune it as usual."""
        model = checkpoint.load(ROOT / self.scale.begins_with)
        start = folder / "start"
        checkpoint.save(
            start, cut(model, part_of(one).keep(model.config)), checkpoint.load_tokenizer(ROOT / self.scale.begins_with)
        )
        settings = settings_of(self.scale, self.seed, epochs=epochs)
        done = run_through(finetune(start, TASK, data, self.dev, settings, out=folder / "alone"))
        return done, Predictor.from_directory(folder / "alone")

    def agreement(self, folder: Path) -> list[dict]:
        """For some candidates, spread over all sizes: accuracy with inherited weights, and after training alone."""
        every = sorted(self.candidates, key=lambda one: one.parameters)
        count = min(self.scale.trained_alone, len(every))
        some = [every[round(i * (len(every) - 1) / max(1, count - 1))] for i in range(count)]
        return [
            {
                "name": one.name,
                "milliseconds": round(one.milliseconds, 3),
                "inherited": one.accuracy,
                "alone": self.alone(one, self.again, 1, folder)[0].metrics["accuracy"],
            }
            for one in some
        ]


def part_of(one: Candidate) -> SubNetwork:
    return SubNetwork(one.layers, one.heads, one.neurons)


def run_through(events: Iterator[Event]) -> Done:
    *_, done = (event for event in events if isinstance(event, Done))
    return done


def search(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds sst2/. whole: the network fine-tuned as usual · super: the super-network, trained as
    all its parts · found, drawn: parts of it, trained further · alone: the shape found, trained on the same sentences
    without it."""
    scale = experiment.scale
    train, dev = (TASK.read(tasks / "sst2" / file) for file in FILES.values())
    texts = [example.text for example in dev.examples[:TIMED_TEXTS]]

    @lru_cache(maxsize=1)
    def searching(seed: int) -> Searching:
        return Searching(scale, drawn(train, scale.labelled, seed), dev, seed)

    def trained(name: str, seed: int) -> tuple[Done, Predictor, dict[str, float], dict]:
        """(the end of its training, the model, further metrics, further facts)"""
        if name == "whole":
            start, data, where = ROOT / scale.begins_with, drawn(train, scale.labelled, seed), folder / "whole"
            done = run_through(finetune(start, TASK, data, dev, settings_of(scale, seed), out=where))
            return done, Predictor.from_directory(where), {}, {}
        one = searching(seed)
        if name == "super":
            pairs = one.agreement(folder)
            inherited, alone = ([pair[way] for pair in pairs] for way in ("inherited", "alone"))
            candidates = [
                [c.name, round(c.milliseconds, 3), round(c.accuracy, 4), c.parameters] for c in one.candidates
            ]
            agreement = {"agreement": rank_correlation(inherited, alone)}
            return one.done, one.predictor, agreement, {"compared": pairs, "candidates": candidates}
        if name == "alone":
            return *one.alone(one.found, one.data, scale.epochs, folder), {}, {"part": one.found.name}
        chosen = one.found if name == "found" else one.drawn
        return *one.went_on(chosen), {"inherited": chosen.accuracy}, {"part": chosen.name}

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        yield Step(0, 0.0, 0.0, 0.0, 0, 0.0, 0.0)
        done, predictor, metrics, facts = trained(name, seed)
        cost = measure({"": (predictor.model.eval(), predictor.tokenizer)}, texts)[""]
        measured = {"milliseconds": cost.milliseconds, "megabytes": cost.megabytes}
        yield Eval(done.step, {"accuracy": done.metrics["accuracy"], **measured, **metrics})
        yield done
        return {"parameters": cost.parameters, "curve": [], "data": DATA, **facts}

    return run
