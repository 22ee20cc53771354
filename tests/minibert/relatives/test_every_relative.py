"""Whatever is done with BERT is done with each of its relatives: it comes back as what it is, never as BERT."""

import json
from dataclasses import replace

import pytest
import torch
import transformers
from safetensors.torch import load_file
from torch import nn

from minibert import checkpoint
from minibert.__main__ import main
from minibert.config import BertConfig
from minibert.count import parameters
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import TaskHead
from minibert.inside.probes.probe import untrained_copy
from minibert.model import IGNORE, Bert, BertForPreTraining, Components, Embeddings
from minibert.objectives import losses
from minibert.pretrain import PretrainSettings, pretrain
from minibert.relatives import (
    build,
    config_from,
    config_from_file,
    model_types,
    objective_for,
    relative_named,
    shape_of,
)
from minibert.service.export import export
from minibert.tasks import Options, task_named
from minibert.train import Eval, Optimization
from minibert.training import snapshots
from minibert.training.averaging import average
from tests.minibert.relatives.their_heads import rows
from tests.minibert.relatives.toy_world import SETTINGS, SIZES, TOKENIZER, assert_goes_on_bit_for_bit, stream, texts_in
from tests.minibert.tasks.toys import toy

RELATIVES = [name for name in model_types() if name != "bert"]
WIDE = {**SIZES, "max_position_embeddings": 64, "initializer_range": 0.2}
NARROW = {"albert": {"embedding_size": 16}, "electra": {"embedding_size": 16}}  # so that E is not H
NARROW["pruned"] = {"kept_heads": [2, 1, 1], "kept_neurons": [64, 7, 30]}  # without, it is a BERT
NOT_ALBERT = {"num_hidden_groups": 2, "embedding_size": 0, "inner_group_num": 3}
REVIEWS = "lessons/data/reviews"
every_relative = pytest.mark.parametrize("name", RELATIVES)


def config_of(name: str, **changes) -> BertConfig:
    sizes = {**WIDE, **NARROW.get(name, {}), "vocab_size": 61, **changes}  # as many as the letters' tokenizer has
    return relative_named(name).config(**sizes)


def kept(config: BertConfig) -> nn.Module:
    """What stays of what pre-training trains."""
    objective = objective_for(config)
    return objective.networks_to_save(build(config, objective.model))[""]


def model_of(name: str, **changes) -> nn.Module:
    torch.manual_seed(0)
    return kept(config_of(name, **changes)).eval()


@torch.no_grad()
def answers(model: nn.Module) -> list[torch.Tensor]:
    """All its logits: of the real tokens, and of the rows."""
    batch, _ = rows()
    found = [x for x in vars(model(batch)).values() if x is not None]
    return [x[batch.padding] if x.shape[:2] == batch.ids.shape else x for x in found]


def furthest(one, other) -> float:
    """How far their answers are from each other."""
    pairs = zip(answers(one), answers(other), strict=True)
    return max((x - y).abs().max().item() for x, y in pairs if x.numel())


def parts_in(model) -> list[type]:
    """The kinds of modules a model is made of."""
    encoder = model if isinstance(model, Bert) else model.bert
    return [type(module) for module in encoder.modules()]


@every_relative
def test_it_differs_from_bert(name):
    relative = model_of(name)
    bert = BertForPreTraining(BertConfig(61, **WIDE)).eval()
    shared = {key: value for key, value in relative.state_dict().items() if key in bert.state_dict()}
    same = {key: value for key, value in shared.items() if value.shape == bert.state_dict()[key].shape}
    bert.load_state_dict(same, strict=False)
    network = objective_for(relative.config) == objective_for(bert.config)  # else it was asked something else
    assert not network or furthest(relative, bert) > 0


@every_relative
@pytest.mark.parametrize("dtype", [None, torch.float16])
def test_it_comes_back_from_a_directory(name, dtype, tmp_path):
    model = model_of(name)
    if dtype is not None:  # so that rounding changes nothing
        for weight in model.parameters():
            weight.data = weight.data.half().float()
    checkpoint.save(tmp_path / "saved", model, dtype=dtype)
    again = checkpoint.load(tmp_path / "saved")
    assert again.config == model.config and parts_in(again) == parts_in(model)
    assert furthest(again, model) == 0
    stored = load_file(tmp_path / "saved" / "model.safetensors")  # what is one is there once
    assert sum(tensor.numel() for tensor in stored.values()) == sum(weight.numel() for weight in model.parameters())
    assert config_from_file(tmp_path / "saved" / "config.json").model_type == name
    checkpoint.save(tmp_path / "encoder", again.bert)
    bare = checkpoint.load(tmp_path / "encoder")
    assert isinstance(bare, Bert) and parts_in(bare) == parts_in(model)
    assert torch.equal(bare(rows()[0])[0], model.bert(rows()[0])[0])


@every_relative
def test_it_is_never_built_or_counted_as_bert(name):
    for make in (Bert, BertForPreTraining, TaskHead, parameters):
        with pytest.raises(ValueError, match=name):
            make(config_of(name))


@every_relative
def test_it_is_counted_to_the_last_parameter(name):
    for config in (config_of(name), relative_named(name).config.preset("tiny")):
        with torch.device("meta"):
            model = kept(config)
        counted = parameters(shape_of(config))
        untrained = 0 if counted.of("nsp") else counted.of("pooler")  # without pairs nothing reads it, and it waits
        assert counted.pretraining + untrained == sum(weight.numel() for weight in model.parameters())
        assert counted.with_pooler == sum(weight.numel() for weight in model.bert.parameters())


@every_relative
def test_snapshots_averages_and_untrained_copies_keep_it(name, letters, tmp_path):
    model = model_of(name)
    for folder in ("one", "two"):
        checkpoint.save(tmp_path / folder, model, letters)
    snapshots.save(tmp_path / "one" / "steps", model, 3, 40)
    (snapshot,) = snapshots.listed(tmp_path / "one")
    looked_back = snapshots.load(tmp_path / "one", snapshot)
    average([tmp_path / "one", tmp_path / "two"], tmp_path / "mean")
    mean = checkpoint.load(tmp_path / "mean")
    assert furthest(looked_back, model) < 0.25  # 8 bits a weight
    assert furthest(mean, model) < 1e-4
    assert all(parts_in(other) == parts_in(model) for other in (looked_back, mean, untrained_copy(model)))


@pytest.mark.trains
@every_relative
def test_a_run_that_was_cut_off_goes_on_bit_for_bit(name, tmp_path):
    text = texts_in(tmp_path)
    settings = replace(SETTINGS, relative=name, sizes={**SIZES, **NARROW.get(name, {})})
    assert_goes_on_bit_for_bit(settings, tmp_path, **text)
    assert checkpoint.load(tmp_path / "cut").config.model_type == name
    with pytest.raises(ValueError, match=f"is a {name} model, and a bert model was asked for"):
        list(pretrain(SETTINGS, out=tmp_path / "other", model=tmp_path / "whole", **text))


def started(name: str, letters, folder):
    """A checkpoint with random weights."""
    return checkpoint.save(folder / "started", model_of(name, initializer_range=0.02), letters)


# The two whose rows stand otherwise: positions that count words alone, and [CLS] at the end of segments of its own.
OTHER_ROWS = ("roberta", "xlnet")


@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "task"),
    [*((name, "classification") for name in RELATIVES)]
    + [(name, task) for name in OTHER_ROWS for task in ("tagging", "span", "choice")],
)
def test_it_is_fine_tuned_saved_and_exported_as_what_it_is(name, task, letters, tmp_path):
    settings = FinetuneSettings(
        epochs=1,
        batch_size=8,
        max_length=24,
        evaluations_per_epoch=1,
        mlm_weight=0.1,
        averaging=0.5,
        optimization=Optimization(learning_rate=1e-3),
    )
    source, *data = started(name, letters, tmp_path), toy(task, 16, 0), toy(task, 8, 1)
    events = list(finetune(source, task, *data, settings, out=tmp_path / "tuned"))
    assert any(isinstance(event, Eval) for event in events)
    saved = Predictor.from_directory(tmp_path / "tuned")
    assert saved.model.config.model_type == name
    assert parts_in(saved.model) == parts_in(checkpoint.load(source))
    answers, _ = saved.answers(data[1].examples)
    assert export(tmp_path / "tuned", tmp_path / "exported", "huggingface").difference < 1e-4
    again, _ = Predictor.from_directory(tmp_path / "exported").answers(data[1].examples)
    assert json.dumps(again) == json.dumps(answers)


@pytest.mark.release
@pytest.mark.parametrize("name", ["left_to_right", "nezha", "pruned", "roberta", "xlnet"])  # whose graphs are others
def test_onnx_gives_its_answers(name, letters, tmp_path):
    torch.manual_seed(0)
    config = config_of(name, initializer_range=0.02)
    head = task_named("classification").head(config, ["no", "yes"], Options(max_length=24)).eval()
    Predictor(head, letters, task_named("classification"), Options(max_length=24)).save(tmp_path / "model")
    assert export(tmp_path / "model", tmp_path / "onnx", "onnx").difference < 1e-4


@pytest.mark.parametrize(
    ("theirs", "more", "task"),
    [
        ("Albert", {"embedding_size": 16}, "classification"),
        ("Electra", {"embedding_size": 16}, "classification"),
        ("Bert", {"num_labels": 2, "problem_type": "multi_label_classification"}, "multilabel"),
    ],
)
def test_one_that_others_have_fine_tuned_answers(theirs, more, task, letters, tmp_path):
    config = getattr(transformers, f"{theirs}Config")(**SIZES, vocab_size=letters.vocab_size, **more)
    getattr(transformers, f"{theirs}ForSequenceClassification")(config).save_pretrained(tmp_path)
    letters.save(tmp_path)
    predictor = Predictor.from_directory(tmp_path)
    assert predictor.task.name == task
    assert set(predictor.predict(["a b"])[0]["probabilities"]) == {"LABEL_0", "LABEL_1"}


@every_relative
def test_it_asks_what_its_objective_says(name):
    torch.manual_seed(0)
    config = config_of(name, vocab_size=TOKENIZER.vocab_size)
    objective = objective_for(config)
    model = build(config, objective.model).eval()
    if hasattr(model, "temperature"):
        model.temperature = 0  # samples of a part are not those of the whole
    batch = next(iter(stream(objective, 30, batch_size=12, max_length=40)))
    whole = losses(objective, model(batch), batch, batch)
    assert whole["loss"].item() == pytest.approx(
        sum(objective.loss_weight(kind[:-5]) * value.item() for kind, value in whole.items() if kind.endswith("_loss"))
    )
    parts = [losses(objective, model(part), part, batch) for part in batch.split(3)]
    for kind, value in whole.items():
        assert sum(part[kind].item() for part in parts) == pytest.approx(value.item(), rel=1e-5)


@every_relative
def test_a_batch_without_any_label_has_a_loss_that_is_a_number(name):
    config = config_of(name, vocab_size=TOKENIZER.vocab_size)
    objective = objective_for(config)
    batch = next(iter(stream(objective, 30, batch_size=4, max_length=40)))
    batch = replace(batch, labels=torch.full_like(batch.ids, IGNORE), next_labels=None)
    for kind, value in losses(objective, build(config, objective.model).eval()(batch), batch, batch).items():
        assert torch.isfinite(value) and (value.item() == 0 or not kind.startswith(("mlm", "plm", "sbo")))


def test_a_model_type_that_nobody_knows_is_refused_by_name(tmp_path):
    checkpoint.save(tmp_path, model_of("albert"))
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"albert"', '"alberta"'))
    with pytest.raises(checkpoint.CheckpointError, match='model_type is "alberta", which is not known here'):
        checkpoint.load(tmp_path)
    with pytest.raises(ValueError, match='model_type is "base"'):  # a file beside them, but no relative
        config_from({"model_type": "base"})


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        *(("albert", {"sizes": {field: n}}, "must be 1 here") for field, n in NOT_ALBERT.items()),
        ("albert", {"sizes": {"shared": "heads"}}, "shared must be one of none, attention, feed_forward, all, not"),
        ("electra", {"objective_options": {"variant": "electra_16"}}, "must be one of electra, electra_15, "),
        ("ernie", {"objective_options": {"stage": "sentence"}}, "the stage must be one of piece, phrase, entity"),
        ("ernie2", {"sizes": {"task_type_vocab_size": 1}}, "task_type_vocab_size must be from 2"),
        ("nezha", {"objective_options": {"variant": "electra"}}, "the objective of nezha has no option variant"),
        ("wklm", {"objective_options": {"rate": 0.0}}, "must be a share above 0"),
        ("wklm", {"objective_options": {"rate": 1.5}}, "must be a share above 0"),
        ("wklm", {"objective_options": {"hidden": 0.0}}, "must be a share above 0"),
        ("xlnet", {"objective_options": {"share": 0}}, "share"),
        ("xlnet", {"objective_options": {"context": "some"}}, "context"),
    ],
)
def test_what_a_relative_cannot_be_is_refused(name, settings, why):
    with pytest.raises(ValueError, match=why):
        PretrainSettings(relative=name, steps=1, **settings).config()


def test_parts_that_no_model_type_names_are_not_saved(tmp_path):
    class Louder(Embeddings):
        def forward(self, *rows):
            return 2 * super().forward(*rows)

    model = BertForPreTraining(BertConfig(61, **SIZES), Components(embeddings=Louder))
    with pytest.raises(checkpoint.CheckpointError, match="embeddings of its own"):
        checkpoint.save(tmp_path / "model", model)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("options", [{"layer_decay": 0.9}, {"freeze": 1}])
def test_what_a_shared_block_cannot_do_is_refused(options, letters, tmp_path):
    source, *data = started("albert", letters, tmp_path), toy("classification", 8, 0), toy("classification", 4, 1)
    with pytest.raises(ValueError, match="all layers share one block"):
        list(finetune(source, "classification", *data, FinetuneSettings(epochs=1, max_length=24, **options)))


@pytest.mark.trains
def test_from_the_command_line(tmp_path, capsys):
    out, tuned = tmp_path / "toy", tmp_path / "tuned"
    sizes = ["num_hidden_layers=1", "hidden_size=32", "intermediate_size=64", "num_attention_heads=2"]
    start = ["pretrain", "--toy", "--relative", "albert", "--steps", "2", "--threads", "1"]
    assert main([*start, "--sizes", *sizes, "--out", str(out)]) == 0
    short = ["--epochs", "1", "--examples", "32", "--max-length", "32", "--out", str(tuned)]
    files = ["--train", f"{REVIEWS}/train.tsv", "--dev", f"{REVIEWS}/dev.tsv"]
    assert main(["finetune", "--model", str(out), *files, *short]) == 0
    assert main(["evaluate", "--model", str(tuned), "--data", f"{REVIEWS}/test.tsv", "--json"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out.splitlines()[-1])["accuracy"] <= 1
    assert main(["predict", "--model", str(tuned), "not a dull minute", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["text"] == "not a dull minute"
    assert main(["count", "--config", str(tuned / "config.json"), "--json"]) == 0
