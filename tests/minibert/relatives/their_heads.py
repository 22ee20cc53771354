"""Three rows as we read them and as transformers does, and whether a network of ours answers them as one of theirs."""

import torch

from minibert.heads import BertForMultipleChoice, BertForQuestionAnswering, TaskBatch
from minibert.model import Batch, BertForPreTraining


def rows() -> tuple[Batch, dict]:
    """Rows of 17, 11 and 1 tokens."""
    rng = torch.Generator().manual_seed(1)
    padding = torch.arange(17) < torch.tensor([[17], [11], [1]])
    ids = torch.randint(2, 61, (3, 17), generator=rng).masked_fill(~padding, 1)
    segments = torch.randint(2, (3, 17), generator=rng)
    theirs = {"input_ids": ids, "token_type_ids": segments, "attention_mask": padding.long()}
    return Batch(ids, segments, padding), theirs


@torch.no_grad()
def assert_equal(ours, theirs) -> None:
    batch, inputs = rows()
    padding = batch.padding
    if theirs.config.model_type in ("distilbert", "roberta"):  # which know no segments
        del inputs["token_type_ids"]
    if isinstance(ours, BertForMultipleChoice):
        inputs = {name: x[None] for name, x in inputs.items()}
        batch = TaskBatch(batch.ids[None], batch.segments[None], padding[None])
    a, b = ours.eval()(batch), theirs.eval()(**inputs)
    mine = a.mlm_logits if isinstance(ours, BertForPreTraining) else a.logits
    if "prediction_logits" in b:
        other = b.prediction_logits
        about_pairs = b.sop_logits if "sop_logits" in b else b.seq_relationship_logits
        assert (a.nsp_logits - about_pairs).abs().max() < 1e-4
    elif isinstance(ours, BertForQuestionAnswering):
        other = torch.stack([b.start_logits, b.end_logits], -1)
    else:
        other = b.logits
    real = padding if mine.shape[:2] == (3, 17) else slice(None)
    assert (mine - other)[real].abs().max() < 1e-4
