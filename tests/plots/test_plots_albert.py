"""The weights as bars: every copy its own segment, one behind the other, on one scale."""

from plots.albert import weights


def test_segments_stand_behind_each_other():
    rows = {
        "BERT": [("embeddings", 3_000_000), ("attention", 400_000), ("mlp", 800_000), ("attention", 400_000)],
        "ALBERT": [("embeddings", 500_000), ("attention", 400_000)],
    }
    fig = weights(rows, {"embeddings": "words", "attention": "attention", "mlp": "network"}, "millions")
    bars = {bar.name: bar for bar in fig.data}
    assert list(bars) == ["words", "attention", "network"]
    assert list(bars["attention"].base) == [3.0, 4.2, 0.5] and list(bars["attention"].x) == [0.4] * 3
    assert list(bars["attention"].y) == [0, 0, 1]
    assert list(bars["network"].base) == [3.4]
    assert [note.text for note in fig.layout.annotations] == ["<b>4.60 M</b>", "<b>900 k</b>"]
    assert bars["words"].hovertext[0] == "words: 3,000,000"
