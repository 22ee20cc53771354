"""train-vectors, whiten, embed, search: one vector per text, and nearest neighbours."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from minibert.command_line.arguments import SHIPPED, add_command, add_precision, model_directory, positive
from minibert.command_line.lines import file_lines, lines_of
from minibert.command_line.printing import complain, print_events, print_result
from minibert.folders import input_path

POOLINGS, OBJECTIVES = ("mean", "cls", "max"), ("simcse", "simcse-supervised", "softmax", "cosine", "triplet")
LAYERS = ("last", "first-last", "embeddings")
GROUP = 1024  # texts embedded at once


def add_commands(commands) -> None:
    sub = add_command(commands, "train-vectors", train_vectors, "Learn sentence vectors: Sentence-BERT, SimCSE.")
    sub.add_argument("--objective", choices=OBJECTIVES, default="simcse", help="default: simcse")
    sub.add_argument(
        "--train",
        required=True,
        type=input_path,
        help="simcse: a text file; softmax: as the task pair reads; cosine: as similarity; simcse-supervised, triplet: "
        "two or three texts a line, with tabs between: a text, one that belongs to it, one that does not; or, for "
        "simcse-supervised, labelled pairs of inference, such as RTE's",
    )
    sub.add_argument("--dev", type=input_path, help="scored pairs, as the task similarity reads them")
    sub.add_argument(
        "--questions", type=input_path, help="a question, a tab and its standard question a line, to measure on"
    )
    sub.add_argument("--model", type=model_directory, default=SHIPPED, help="to go on from (default: the shipped one)")
    sub.add_argument("--out", required=True, type=Path, help="directory; sentence-transformers opens it too")
    sub.add_argument("--pooling", choices=POOLINGS, default="mean", help="default: mean")
    sub.add_argument("--steps", type=positive(int), default=300)
    sub.add_argument("--batch-size", type=positive(int), default=64)
    sub.add_argument("--max-length", type=positive(int), default=32, help="tokens of a text in training (default: 32)")
    sub.add_argument("--learning-rate", type=positive(float), default=1e-4)
    sub.add_argument("--temperature", type=positive(float), default=0.05, help="of simcse (default: 0.05)")
    sub.add_argument("--margin", type=positive(float), default=1.0, help="of triplet (default: 1)")
    sub.add_argument("--dropout", type=float, default=0.1)
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--resume", action="store_true", help="go on where the run in --out was cut off")
    sub.add_argument("--threads", type=positive(int), help="processor threads")

    sub = add_command(
        commands, "whiten", whiten, "Whiten sentence vectors by what some sentences' vectors say, and shorten them."
    )
    sub.add_argument(
        "--model", type=model_directory, default=SHIPPED, help="an encoder or any BERT (default: the shipped one)"
    )
    sub.add_argument("--data", required=True, type=input_path, help="sentences, one a line; no scores are needed")
    sub.add_argument("--dimensions", type=positive(int), help="numbers that are kept (default: all)")
    sub.add_argument("--layers", choices=LAYERS, help="whose mean is pooled (default: the model's own, else the last)")
    sub.add_argument("--pooling", choices=POOLINGS, help="default: the model's own, else mean")
    sub.add_argument("--out", required=True, type=Path, help="directory; sentence-transformers opens it too")
    sub.add_argument("--threads", type=positive(int), help="processor threads")

    sub = add_command(commands, "embed", embed, "Texts in, one vector each out.")
    sub.add_argument("text", nargs="?", help="one text; without it, every line of --file or standard input")
    sub.add_argument("--file", type=input_path, help="read the texts from here, one a line")
    sub.add_argument("--out", type=Path, help="write them as .npy, (texts, numbers) float32, instead of printing them")
    reading_options(sub)

    sub = add_command(commands, "search", search, "The lines of a file that are nearest to a text, with their cosines.")
    sub.add_argument("text", nargs="?", help="what is looked for; without it, every line of standard input")
    sub.add_argument("--file", type=input_path, required=True, help="where it is looked for, a text a line")
    sub.add_argument("--top", type=positive(int), default=5, help="lines a text (default: 5)")
    reading_options(sub)


def reading_options(sub) -> None:
    sub.add_argument(
        "--model",
        type=model_directory,
        default=SHIPPED,
        help="what train-vectors or sentence-transformers saved, or any BERT (default: the shipped one)",
    )
    sub.add_argument("--pooling", choices=POOLINGS, help="another than the model's, which is mean where it says none")
    add_precision(sub)


def train_vectors(options) -> None:
    from minibert.sentence_vectors.rows import questions_of, read_rows
    from minibert.sentence_vectors.run import HeldOut, VectorSettings, learn_vectors
    from minibert.tasks import TASKS
    from minibert.train import Optimization

    settings = VectorSettings(
        objective=options.objective,
        pooling=options.pooling,
        temperature=options.temperature,
        margin=options.margin,
        dropout=options.dropout,
        steps=options.steps,
        batch_size=options.batch_size,
        max_length=options.max_length,
        optimization=Optimization(learning_rate=options.learning_rate),
        seed=options.seed,
    )
    pairs = TASKS["similarity"].read(options.dev).examples if options.dev else ()
    held = HeldOut(pairs, questions_of(options.questions) if options.questions else ())
    rows = read_rows(options.objective, options.train)
    print_events(
        options, learn_vectors(settings, options.model, rows, held=held, out=options.out, resuming=options.resume)
    )


def whiten(options) -> None:
    from minibert.inside.geometry.vectors import mean_cosine
    from minibert.sentence_vectors import encoder

    texts = list(dict.fromkeys(filter(str.strip, file_lines(options.data))))
    if len(texts) < 2:
        raise ValueError(f"{options.data} holds {len(texts)} sentences: whitening needs two at least")
    layers = encoder.LAYERS[options.layers] if options.layers else None
    vectors = encoder.SentenceVectors.from_directory(options.model, options.pooling, layers)
    whitened = vectors.whitened(texts, options.dimensions)
    whitened.save(options.out)
    plain, white = (one.embed(texts[:GROUP]) for one in (vectors, whitened))
    before, after = mean_cosine(plain), mean_cosine(white)
    width, kept = vectors.encoder.bert.config.hidden_size, white.shape[1]
    values = {
        "path": str(options.out),
        "texts": len(texts),
        "numbers": kept,
        "of": width,
        "mean_cosine": [round(before, 4), round(after, 4)],
    }
    print_result(
        options,
        values,
        f"{options.out}: {kept} of {width} numbers, fitted on {len(texts)} sentences; mean cosine of "
        f"two of them {before:.3f}, now {after:.3f}",
    )


def texts_of(options) -> Iterator[str]:
    """The text given, the lines of --file, or standard input; blank lines are skipped."""
    if options.text is not None and options.file is not None:
        raise ValueError("give one text, or --file")
    lines = lines_of(options) if options.file is None else file_lines(options.file)
    yield from filter(str.strip, lines)


def in_groups(texts: Iterator[str]) -> Iterator[list[str]]:
    return iter(lambda: list(islice(texts, GROUP)), [])


def embed(options) -> None:
    import numpy as np

    from minibert.sentence_vectors.encoder import SentenceVectors
    from minibert.training.precision import ready_to_answer

    vectors = SentenceVectors.from_directory(options.model, options.pooling)
    ready_to_answer(vectors.encoder, options.precision)
    if options.out is None:
        for group in in_groups(texts_of(options)):
            for text, row in zip(group, vectors.embed(group).tolist(), strict=True):
                print_result(options, {"text": text, "vector": row}, " ".join(f"{number:.6g}" for number in row))
        return
    if options.out.is_dir():
        raise ValueError(f"{options.out} is a directory: --out names a file")
    rows = [vectors.embed(group) for group in in_groups(texts_of(options))]
    if not rows:
        raise ValueError("there is no text: every line is blank")
    table = np.concatenate(rows)
    unfinished = options.out.with_name(f".{options.out.name}.unfinished")
    with unfinished.open("wb") as file:
        np.save(file, table)
    unfinished.replace(options.out)
    shape = {"path": str(options.out), "texts": len(table), "numbers": table.shape[1]}
    print_result(options, shape, f"{options.out}: {len(table)} texts, {table.shape[1]} numbers each")


def search(options) -> None:
    from minibert.inside.geometry.vectors import nearest, unit
    from minibert.sentence_vectors.encoder import SentenceVectors
    from minibert.training.precision import ready_to_answer

    vectors = SentenceVectors.from_directory(options.model, options.pooling)
    ready_to_answer(vectors.encoder, options.precision)
    lines = list(filter(str.strip, file_lines(options.file)))
    if not lines:
        raise ValueError(f"{options.file} holds no text: every line is blank")
    table = unit(vectors.embed(lines))
    if options.text is None and sys.stdin.isatty():
        complain("a text a line; the end of input ends it")
    for text in filter(str.strip, lines_of(options)):
        neighbours = nearest(table, vectors.embed([text])[0], options.top)
        records = [{"line": lines[i], "cosine": round(cosine, 4)} for i, cosine in neighbours]
        plain = "\n".join(f"{record['cosine']:7.4f}  {record['line']}" for record in records)
        print_result(options, {"text": text, "nearest": records}, plain)
