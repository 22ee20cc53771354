"""The confusion matrix: its data."""

from plots.confusion import confusion


def test_every_count_is_written_in_a_colour_that_the_cell_chooses():
    fig = confusion([[5, 1], [0, 9]], ["no", "yes"], ("answer", "truth"))
    (cells,) = fig.data
    assert [list(row) for row in cells.z] == [[5, 1], [0, 9]] and cells.texttemplate == "%{z}"
    # The theme of the page recolours annotations: dark digits on dark violet.
    assert not fig.layout.annotations and cells.textfont.color is None
    confusion([[0, 0], [0, 0]], ["a", "b"], ("answer", "truth"))
