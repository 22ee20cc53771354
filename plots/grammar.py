"""Colour conventions of the whole course: each concept has one hue, on every page, in figures and in style.css.

After Okabe & Ito 2008, "Color Universal Design", darkened where needed: contrast of at least 3 : 1 against the light
and the dark page. Where two of them occur together, they also differ by shape or dash. A selection has no hue: it is
outlined in the text's own colour (plots.theme.WORDS). Rows, layers, heads and positions are counted from 1.

The other hues of plots.theme only distinguish items of one kind: the first is blue, the second orange (random weights
beside a checkpoint, another model, a branch beside the sentence). A single item is never orange.
"""

QUERY, KEY, VALUE = "#0072B2", "#C27A00", "#009E73"
MASK = "#C56E9E"
SEGMENT_A, SEGMENT_B = "#2F8FCC", "#D55E00"
OURS, PAPER = "#7B66C9", "#81868F"  # numbers measured by this project · from a paper
RIGHT, WRONG = "#009E73", "#D55E00"  # of predictions; never by colour alone

ATTENTION = {"zmin": 0.0, "zmax": 1.0, "colorscale": "Viridis"}  # attention weights: always 0 to 1
