"""predict: read inputs as they arrive, print one line per answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from minibert.command_line.arguments import add_command, add_precision, positive
from minibert.command_line.lines import file_lines, lines_as_they_come
from minibert.command_line.printing import print_result
from minibert.command_line.task_files import file_options, read_task_data
from minibert.folders import input_path
from minibert.text.json_values import JsonError, json_value

SORTED_TOGETHER = 32  # batches of a file, whose inputs are sorted by length: little padding is computed


def add_commands(commands) -> None:
    sub = add_command(commands, "predict", predict, "Answer with a fine-tuned model, as the inputs come.")
    sub.add_argument(
        "text",
        nargs="?",
        help="one input: a text, texts with tabs between, or JSON; without it, every line of --file or standard input",
    )
    sub.add_argument("--file", type=input_path, help="read the inputs from here, one a line")
    sub.add_argument("--data", type=input_path, help="a file in one of the formats of the task, as `evaluate` reads it")
    sub.add_argument("--model", required=True, type=input_path)
    sub.add_argument(
        "--batch-size", type=positive(int), default=32, help="inputs read by the model at once (default: 32)"
    )
    add_precision(sub)
    file_options(sub)


def predict(options) -> None:
    from minibert.diet.predictor import load_predictor
    from minibert.training.precision import ready_to_answer

    predictor = load_predictor(options.model)
    ready_to_answer(predictor.model, options.precision)
    if sum(source is not None for source in (options.text, options.file, options.data)) > 1:
        raise ValueError("give one input, or --file, or --data")
    if options.text is not None:
        answers = predictor.stream([parse_input(options.text)])
    elif options.file is not None:
        answers = predictor.stream(map(parse_input, file_lines(options.file)), options.batch_size, SORTED_TOGETHER)
    elif options.data is not None:
        answers = file_answers(options, predictor)
    else:
        batches = lines_as_they_come(sys.stdin.buffer, options.batch_size)
        answers = predictor.stream_batches([parse_input(line) for line in lines] for lines in batches)
    for answer in answers:
        print_result(options, answer, predictor.task.plain(answer))


def file_answers(options, predictor) -> Iterator[dict]:
    """The answer to each example of a file of the task."""
    examples = read_task_data(options, predictor.task, options.data).examples
    size = SORTED_TOGETHER * options.batch_size
    for start in range(0, len(examples), size):
        yield from predictor.answers(examples[start : start + size], batch_size=options.batch_size)[0]


def parse_input(line: str) -> Any:
    """An input of `predict`: a JSON object or a list of texts, texts with tabs between, or one text."""
    if line.lstrip()[:1] in ("{", "["):
        try:
            value = json_value(line)
        except JsonError:
            return line  # a text may begin like that too
        if isinstance(value, dict) or (value and all(isinstance(text, str) for text in value)):
            return value
        return line  # such as [1], a footnote
    return line.split("\t") if "\t" in line else line
