"""The toy world's words, batches of its texts, and a run that is cut off in the middle."""

from minibert.pretrain import PretrainSettings, pretrain
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy.world import documents, vocabulary
from minibert.train import Saved

TOKENIZER = Tokenizer(vocabulary())
SIZES = {"num_hidden_layers": 3, "num_attention_heads": 2, "hidden_size": 32, "intermediate_size": 64}
SETTINGS = PretrainSettings(
    preset="tiny", steps=6, batch_size=4, max_length=48, dropout=0.1, report_every=3, save_every=3, sizes=SIZES
)


def stream(objective, count: int = 40, **more) -> PretrainingBatches:
    """Batches of `count` texts."""
    store = TokenStore.build(documents(count, seed=3), TOKENIZER)
    settings = {"batch_size": 8, "max_length": 60, "seed": 0, **more}
    return PretrainingBatches(store, TOKENIZER, objective=objective, **settings)


def texts_in(folder) -> dict:
    """What a run reads: where its texts are, and its vocabulary."""
    (folder / "stories.txt").write_text("\n\n".join("\n".join(lines) for lines in documents(40, seed=0)))
    TOKENIZER.save(folder)
    return {"data": [folder / "stories.txt"], "vocabulary": folder / "vocab.txt"}


def cut_off(settings: PretrainSettings, folder, **run) -> None:
    """A run that is left when step 3 is saved."""
    events = pretrain(settings, out=folder, **run)
    next(event for event in events if isinstance(event, Saved) and event.step == 3)
    events.close()


def assert_goes_on_bit_for_bit(settings: PretrainSettings, folder, **run) -> list:
    """The events of a run that nobody cut off, which leaves the weights of one that was."""
    events = list(pretrain(settings, out=folder / "whole", **run))
    cut_off(settings, folder / "cut", **run)
    list(pretrain(settings, out=folder / "cut", resuming=True, **run))
    whole = {file.relative_to(folder / "whole"): file for file in (folder / "whole").rglob("model.safetensors")}
    assert whole
    assert all(file.read_bytes() == (folder / "cut" / name).read_bytes() for name, file in whole.items())
    return events
