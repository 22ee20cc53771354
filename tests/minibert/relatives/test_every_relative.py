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
from minibert.inside.probes import untrained_copy
from minibert.model import Batch, Bert, BertForPreTraining, Embeddings
from minibert.objectives import losses, objective_for
from minibert.pretrain import PretrainSettings, pretrain
from minibert.relatives.registry import config_from, config_from_file, model_types, relative_named
from minibert.service.export import export
from minibert.tasks import Options, task_named
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy.world import documents, vocabulary
from minibert.train import Eval, Optimization, Saved
from minibert.training import snapshots
from minibert.training.averaging import average
from tests.minibert.tasks.toys import toy

RELATIVES = [name for name in model_types() if name != "bert"]
SIZES = {"num_hidden_layers": 3, "num_attention_heads": 2, "hidden_size": 32, "intermediate_size": 64}
NARROW = {"albert": {"embedding_size": 16}, "electra": {"embedding_size": 16}}  # so that E is not H
NARROW["pruned"] = {"kept_heads": [2, 1, 1], "kept_neurons": [64, 7, 30]}  # without, it is a BERT
every_relative = pytest.mark.parametrize("name", RELATIVES)


def config_of(name: str, vocab_size: int, **changes) -> BertConfig:
    sizes = {**SIZES, **NARROW.get(name, {}), "max_position_embeddings": 64, "initializer_range": 0.2, **changes}
    return relative_named(name).config(vocab_size=vocab_size, **sizes)


def trained(config: BertConfig) -> nn.Module:
    """What pre-training trains."""
    return objective_for(config).model(config)


def kept(config: BertConfig) -> nn.Module:
    """What stays of it."""
    return objective_for(config).kept(trained(config))[""]


def model_of(name: str, vocab_size: int = 57, **changes) -> nn.Module:
    torch.manual_seed(0)
    return kept(config_of(name, vocab_size, **changes)).eval()


def rows(vocab_size: int = 57) -> Batch:
    rng = torch.Generator().manual_seed(1)
    ids = torch.randint(5, vocab_size, (3, 12), generator=rng)
    segments = (torch.arange(12) > 6).long().expand(3, 12)
    return Batch(ids, segments, torch.arange(12) < torch.tensor([[12], [9], [5]]))


@torch.no_grad()
def answers(model: nn.Module, batch: Batch) -> list[torch.Tensor]:
    """All its logits: of the real tokens, and of the rows."""
    found = [x for x in vars(model(batch)).values() if x is not None]
    return [x[batch.padding] if x.shape[:2] == batch.ids.shape else x for x in found]


def same_answers(one, other, batch: Batch) -> bool:
    a, b = answers(one, batch), answers(other, batch)
    return len(a) == len(b) and all(x.shape == y.shape and torch.equal(x, y) for x, y in zip(a, b, strict=True))


def parts_in(model) -> list[type]:
    """The kinds of modules a model is made of."""
    encoder = model if isinstance(model, Bert) else model.bert
    return [type(module) for module in encoder.modules()]


@every_relative
def test_it_differs_from_bert(name):
    relative = model_of(name)
    bert = BertForPreTraining(BertConfig(57, **{**SIZES, "max_position_embeddings": 64, "initializer_range": 0.2}))
    shared = {key: value for key, value in relative.state_dict().items() if key in bert.state_dict()}
    same = {key: value for key, value in shared.items() if value.shape == bert.state_dict()[key].shape}
    bert.load_state_dict(same, strict=False)
    network = objective_for(relative.config) == objective_for(bert.config)  # else it was asked something else
    assert not network or not same_answers(relative, bert.eval(), rows())


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
    assert same_answers(again, model, rows())
    assert config_from_file(tmp_path / "saved" / "config.json").model_type == name
    checkpoint.save(tmp_path / "encoder", again.bert)
    bare = checkpoint.load(tmp_path / "encoder")
    assert isinstance(bare, Bert) and parts_in(bare) == parts_in(model)
    assert torch.equal(bare(rows())[0], model.bert(rows())[0])


@every_relative
def test_tensors_that_are_one_are_stored_once(name, tmp_path):
    model = model_of(name)
    checkpoint.save(tmp_path / "saved", model)
    stored = load_file(tmp_path / "saved" / "model.safetensors")
    assert sum(tensor.numel() for tensor in stored.values()) == sum(weight.numel() for weight in model.parameters())


@every_relative
def test_it_is_counted_to_the_last_parameter(name):
    for config in (config_of(name, 57), relative_named(name).config.preset("tiny")):
        with torch.device("meta"):
            model = kept(config)
        counted = parameters(config)
        untrained = 0 if counted.of("nsp") else counted.of("pooler")  # without pairs nothing reads it, and it waits
        assert counted.pretraining + untrained == sum(weight.numel() for weight in model.parameters())
        assert counted.with_pooler == sum(weight.numel() for weight in model.bert.parameters())


@every_relative
def test_snapshots_averages_and_untrained_copies_keep_it(name, letters, tmp_path):
    model = model_of(name, letters.vocab_size)
    for folder in ("one", "two"):
        checkpoint.save(tmp_path / folder, model, letters)
    snapshots.save(tmp_path / "one" / "steps", model, 3, 40)
    (snapshot,) = snapshots.listed(tmp_path / "one")
    looked_back = snapshots.load(tmp_path / "one", snapshot)
    assert parts_in(looked_back) == parts_in(model)
    batch = rows(letters.vocab_size)
    pairs = zip(answers(looked_back, batch), answers(model, batch), strict=True)
    assert all((x - y).abs().max() < 0.25 for x, y in pairs if x.numel())  # 8 bits a weight
    average([tmp_path / "one", tmp_path / "two"], tmp_path / "mean")
    mean = checkpoint.load(tmp_path / "mean")
    assert parts_in(mean) == parts_in(model)
    pairs = zip(answers(mean, batch), answers(model, batch), strict=True)
    assert all(torch.allclose(x, y, atol=1e-5) for x, y in pairs)
    assert parts_in(untrained_copy(model)) == parts_in(model)


SETTINGS = PretrainSettings(
    preset="tiny", steps=6, batch_size=4, max_length=48, dropout=0.1, report_every=3, save_every=3, sizes=SIZES
)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    (folder / "stories.txt").write_text("\n\n".join("\n".join(lines) for lines in documents(40, seed=0)))
    Tokenizer(vocabulary()).save(folder)
    return folder


@pytest.mark.trains
@every_relative
def test_a_run_that_was_cut_off_goes_on_bit_for_bit(name, text, tmp_path):
    settings = replace(SETTINGS, relative=name, sizes={**SIZES, **NARROW.get(name, {})})
    run = {"data": [text / "stories.txt"], "vocabulary": text / "vocab.txt"}
    list(pretrain(settings, out=tmp_path / "whole", **run))
    events = pretrain(settings, out=tmp_path / "cut", **run)
    next(event for event in events if isinstance(event, Saved) and event.step == 3)
    events.close()
    list(pretrain(settings, out=tmp_path / "cut", resuming=True, **run))
    weights = [(tmp_path / side / "model.safetensors").read_bytes() for side in ("whole", "cut")]
    assert weights[0] == weights[1]
    assert checkpoint.load(tmp_path / "cut").config.model_type == name
    with pytest.raises(ValueError, match=f"is a {name} model, and a bert model was asked for"):
        list(pretrain(SETTINGS, out=tmp_path / "other", model=tmp_path / "whole", **run))


@pytest.fixture(scope="module")
def started(letters, tmp_path_factory):
    """A function: a relative's name → a checkpoint with random weights, made once."""
    folder, made = tmp_path_factory.mktemp("started"), {}

    def start(name: str):
        if name not in made:
            model = model_of(name, letters.vocab_size, initializer_range=0.02)
            made[name] = checkpoint.save(folder / name, model, letters)
        return made[name]

    return start


# The two whose rows stand otherwise: positions that count words alone, and [CLS] at the end of segments of its own.
OTHER_ROWS = ("roberta", "xlnet")


@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "task"),
    [*((name, "classification") for name in RELATIVES)]
    + [(name, task) for name in OTHER_ROWS for task in ("tagging", "span", "choice")],
)
def test_it_is_fine_tuned_saved_and_exported_as_what_it_is(name, task, started, tmp_path):
    settings = FinetuneSettings(
        epochs=1, batch_size=8, max_length=24, evaluations_per_epoch=1, mlm_weight=0.1, averaging=0.5,
        optimization=Optimization(learning_rate=1e-3),
    )  # fmt: skip
    data = toy(task, 16, 0), toy(task, 8, 1)
    events = list(finetune(started(name), task, *data, settings, out=tmp_path / "tuned"))
    assert any(isinstance(event, Eval) for event in events)
    saved = Predictor.from_directory(tmp_path / "tuned")
    assert saved.model.config.model_type == name
    assert parts_in(saved.model) == parts_in(checkpoint.load(started(name)))
    answers, _ = saved.answers(data[1].examples)
    assert export(tmp_path / "tuned", tmp_path / "exported", "huggingface").difference < 1e-4
    again, _ = Predictor.from_directory(tmp_path / "exported").answers(data[1].examples)
    assert json.dumps(again) == json.dumps(answers)


@pytest.mark.release
@pytest.mark.parametrize("name", ["left_to_right", "nezha", "pruned", "roberta", "xlnet"])  # whose graphs are others
def test_onnx_gives_its_answers(name, letters, tmp_path):
    torch.manual_seed(0)
    config = config_of(name, letters.vocab_size, initializer_range=0.02)
    head = task_named("classification").head(config, ["no", "yes"], Options(max_length=24)).eval()
    Predictor(head, letters, task_named("classification"), Options(max_length=24)).save(tmp_path / "model")
    assert export(tmp_path / "model", tmp_path / "onnx", "onnx").difference < 1e-4


@pytest.mark.parametrize("theirs", ["Albert", "Electra"])
def test_one_that_others_have_fine_tuned_answers(theirs, letters, tmp_path):
    torch.manual_seed(0)
    config = getattr(transformers, f"{theirs}Config")(**SIZES, vocab_size=letters.vocab_size, embedding_size=16)
    getattr(transformers, f"{theirs}ForSequenceClassification")(config).save_pretrained(tmp_path)
    letters.save(tmp_path)
    predictor = Predictor.from_directory(tmp_path)
    assert predictor.task.name == "classification"
    assert predictor.predict(["a b"])[0]["label"] in ("LABEL_0", "LABEL_1")


@every_relative
def test_it_asks_what_its_objective_says(name, text, letters):
    tokenizer = Tokenizer(vocabulary())
    store = TokenStore.build(documents(30, seed=3), tokenizer)
    torch.manual_seed(0)
    config = config_of(name, tokenizer.vocab_size)
    objective, model = objective_for(config), trained(config).eval()
    if hasattr(model, "temperature"):
        model.temperature = 0  # samples of a part are not those of the whole
    stream = PretrainingBatches(store, tokenizer, batch_size=12, max_length=40, seed=0, objective=objective)
    batch = next(iter(stream))
    whole = losses(objective, model(batch), batch, batch)
    assert whole["loss"].item() == pytest.approx(
        sum(objective.weight(kind[:-5]) * value.item() for kind, value in whole.items() if kind.endswith("_loss"))
    )
    parts = [losses(objective, model(part), part, batch) for part in batch.split(3)]
    for kind, value in whole.items():
        assert sum(part[kind].item() for part in parts) == pytest.approx(value.item(), rel=1e-5)


def test_a_model_type_that_nobody_knows_is_refused_by_name(tmp_path):
    checkpoint.save(tmp_path, model_of("albert"))
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"albert"', '"alberta"'))
    with pytest.raises(
        checkpoint.CheckpointError, match=r'model_type is "alberta", which is not known here; known are'
    ):
        checkpoint.load(tmp_path)
    with pytest.raises(ValueError, match='model_type is "registry"'):  # a file beside them, but no relative
        config_from({"model_type": "registry"})


def test_parts_that_no_model_type_names_are_not_saved(tmp_path):
    class Louder(Embeddings):
        def forward(self, *rows):
            return 2 * super().forward(*rows)

    model = BertForPreTraining(BertConfig(57, **SIZES), embeddings=Louder)
    with pytest.raises(checkpoint.CheckpointError, match="embeddings of its own"):
        checkpoint.save(tmp_path / "model", model)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("options", [{"layer_decay": 0.9}, {"freeze": 1}])
def test_what_a_shared_block_cannot_do_is_refused(options, started):
    settings = FinetuneSettings(epochs=1, max_length=24, **options)
    with pytest.raises(ValueError, match="all layers share one block"):
        list(
            finetune(
                started("albert"), "classification", toy("classification", 8, 0), toy("classification", 4, 1), settings
            )
        )


@pytest.mark.trains
def test_from_the_command_line(tmp_path, capsys):
    out, tuned = tmp_path / "toy", tmp_path / "tuned"
    sizes = ["num_hidden_layers=1", "hidden_size=32", "intermediate_size=64", "num_attention_heads=2"]
    start = ["pretrain", "--toy", "--relative", "albert", "--steps", "2", "--threads", "1"]
    assert main([*start, "--sizes", *sizes, "--out", str(out)]) == 0
    reviews = "lessons/data/reviews"
    files = ["--train", f"{reviews}/train.tsv", "--dev", f"{reviews}/dev.tsv"]
    short = ["--epochs", "1", "--examples", "32", "--max-length", "32"]
    assert main(["finetune", "--model", str(out), *files, *short, "--out", str(tuned)]) == 0
    assert main(["evaluate", "--model", str(tuned), "--data", f"{reviews}/test.tsv", "--json"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out.splitlines()[-1])["accuracy"] <= 1
    assert main(["predict", "--model", str(tuned), "not a dull minute", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["text"] == "not a dull minute"
    assert main(["count", "--config", str(tuned / "config.json"), "--json"]) == 0
