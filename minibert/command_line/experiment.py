"""experiment: the paper's ablations in small, and comparisons of fine-tuning."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from minibert.command_line.arguments import DATA, SHIPPED, add_command, in_data_folder, positive
from minibert.command_line.printing import print_events, print_result
from minibert.folders import LESSONS, input_path, results_to_extend


def add_commands(commands) -> None:
    sub = add_command(
        commands,
        "experiment",
        experiment,
        "Run one of the paper's ablations in small; a line of results an arm and seed.",
    )
    sub.add_argument("name", nargs="?", help="one of those --list names")
    sub.add_argument("--list", action="store_true", help="say which experiments there are, and their arms")
    sub.add_argument(
        "--verdicts", action="store_true", help="of each claim: direction, floor, ceiling, difference, seeds, verdict"
    )
    sub.add_argument("--seeds", type=positive(int), help="seeds 0 … N−1 of each arm (default: 3; of stability 5)")
    sub.add_argument(
        "--tasks",
        type=input_path,
        help=f"the folder with the tasks it needs (default: tasks/en, tasks/zh or tasks of ${DATA})",
    )
    sub.add_argument(
        "--model",
        type=input_path,
        help="of comparisons of fine-tuning, such as features: the checkpoint to start from (default: mini-en)",
    )
    sub.add_argument("--out", type=Path, help="results; what is there is not done again (default: lessons/results)")
    sub.add_argument("--tokens", type=positive(int), help="to pre-train each arm on")
    sub.add_argument("--examples", type=positive(int), help="to fine-tune on, at most")
    sub.add_argument("--arms", nargs="+", help="of what a relative's paper claims: these alone (default: all)")
    sub.add_argument("--threads", type=positive(int), help="processor threads")


def experiment(options) -> None:
    from minibert.experiments.catalogue import EXPERIMENTS, experiment_named
    from minibert.experiments.comparisons import COMPARISONS
    from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS

    if options.list:
        for each in EXPERIMENTS.values():
            show(options, each, each.tasks)
        for comparison in COMPARISONS.values():
            show(options, comparison, [comparison.task], separator="; ")
        for relative in RELATIVE_EXPERIMENTS.values():
            show(options, relative, relative.needs)
        return
    if options.verdicts:
        print_verdicts(options)
        return
    if options.name is None:
        raise ValueError("name an experiment; --list says which there are")
    if options.name in COMPARISONS:
        begin, ignored = begin_comparison, ("tokens", "examples", "arms")
    elif options.name in RELATIVE_EXPERIMENTS:
        begin, ignored = begin_relative, ("tokens", "examples", "model")
    else:
        experiment_named(options.name)  # raises ValueError for a name that there is not
        begin, ignored = begin_ablation, ("tasks", "model", "arms")

    from minibert.experiments.events import Finished, collected

    for option in ignored:
        if getattr(options, option):
            raise ValueError(f"{options.name} does not read --{option}: leave it out")
    out, events = begin(options)
    printed: list = []
    print_events(options, collected(events, printed))
    if not any(isinstance(event, Finished) for event in printed):
        print(f"nothing to do: {out} holds all of it", file=sys.stderr)


def show(options, each, tasks: Sequence[str], separator: str = ", ") -> None:
    values = {"experiment": each.name, "title": each.title, "arms": [*each.arms], "tasks": tasks}
    print_result(options, values, f"{each.name:12} {each.title}: {separator.join(each.arms)}")


def command_of(name: str, seeds: int, **options: Any) -> str:
    """The command that repeats an experiment, with the options that were given."""
    given = (f" --{option} {value}" for option, value in options.items() if value)
    return f"python -m minibert experiment {name} --seeds {seeds}{''.join(given)}"


def begin_ablation(options) -> tuple[Path, Iterator]:
    """(results, events) of one of the paper's ablations."""
    from minibert.experiments.catalogue import experiment_named
    from minibert.experiments.run import run_experiment
    from minibert.experiments.toy_corpus import toy_corpus

    chosen = experiment_named(options.name)
    smaller = {"tokens": options.tokens, "examples": options.examples}
    scale = replace(chosen.scale, **{name: value for name, value in smaller.items() if value})
    out = options.out or results_to_extend(f"{chosen.name}.jsonl")
    seeds = options.seeds or 3
    command = command_of(chosen.name, seeds, **smaller)
    return out, run_experiment(chosen, toy_corpus(), out, seeds=seeds, scale=scale, command=command)


def direction(sign: float | None) -> str:
    return "" if sign is None else "same" if sign == 0 else "higher" if sign > 0 else "lower"


def print_verdicts(options) -> None:
    """A line a claim that has been tried, by the table it is in, and how many have which verdict."""
    from minibert.experiments.claims import all_judged

    counts: Counter[str] = Counter()
    if not options.json:
        titles = f"{'table':26} {'arm − base':60} {'paper':>7} {'floor':>8} {'ceiling':>8}"
        print(f"{titles}  {'ours, 95 %':16} {'over':>11}  verdict")
    for name, one in all_judged():
        counts[one.verdict] += 1
        claim, ours = one.claim, one.ours
        if ours is None:  # not tried
            continue
        paper = direction(claim.sign) if claim.paper is None else f"{claim.paper:+.4g}"
        floor, ceiling = ("" if value is None else f"{value:.2f}" for value in (one.floor, one.ceiling))
        half = "" if ours.half is None or not ours.varies else f" ± {ours.half:.2f}"
        over = f"{ours.pairs} pairs" if ours.pairs else f"{ours.seeds} seeds" if ours.varies else "no seeds"
        values = {"table": name, "said": claim.said, **asdict(claim), "ours": asdict(ours), "verdict": one.verdict}
        values |= {"floor": one.floor, "ceiling": one.ceiling}
        line = f"{name:26} {claim.said:60} {paper:>7} {floor:>8} {ceiling:>8}"
        print_result(options, values, f"{line}  {ours.mean:+7.2f}{half:9} {over:>11}  {one.verdict}")
    print_result(options, dict(counts), "; ".join(f"{word}: {n}" for word, n in counts.most_common()))


def begin_relative(options) -> tuple[Path, Iterator]:
    """(results, events) of a claim of a relative's paper: in the toy world, or on the task data that it `needs`."""
    from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
    from minibert.experiments.relatives import run_relative

    chosen = RELATIVE_EXPERIMENTS[options.name]
    if unknown := set(options.arms or ()) - set(chosen.arms):
        raise ValueError(f"{chosen.name} has no arm {min(unknown)!r}; there are {', '.join(chosen.arms)}")
    if options.arms:
        chosen = replace(chosen, arms={name: chosen.arms[name] for name in options.arms})
    out, seeds, tasks = options.out or results_to_extend(f"{chosen.name}.jsonl"), options.seeds or 3, None
    if chosen.needs:
        tasks = options.tasks or in_data_folder("--tasks", chosen.needs_in)
        if lacking := [name for name in chosen.needs if not (tasks / name).is_dir()]:
            raise ValueError(f"{tasks} has no folder {lacking[0]}")
    command = command_of(chosen.name, seeds, arms=" ".join(options.arms or ()))
    return out, run_relative(chosen, out, seeds=seeds, command=command, tasks=tasks)


def begin_comparison(options) -> tuple[Path, Iterator]:
    """(results, events) of a comparison of fine-tuning settings, from a checkpoint."""
    from minibert.checkpoint import config_values
    from minibert.config import BertConfig
    from minibert.experiments.compare import run_comparison
    from minibert.experiments.comparisons import comparison_named

    start = options.model or SHIPPED
    chosen = comparison_named(options.name, BertConfig.from_dict(config_values(start)).hidden_size)
    folder = LESSONS / "data" if chosen.embedded else options.tasks or in_data_folder("--tasks", "tasks", "en")
    out = options.out or results_to_extend(f"{start.name}/{chosen.name}.jsonl")
    seeds = options.seeds or chosen.seeds
    tasks = None if chosen.embedded else options.tasks
    command = command_of(chosen.name, seeds, model=options.model, tasks=tasks)
    return out, run_comparison(chosen, start, folder, out, seeds=seeds, command=command)
