"""The grammar of the whole course: one hue for one thing, on every page, in figures and in style.css.

After Okabe & Ito 2008, "Color Universal Design", darkened where needed: each is 3 : 1 or more against the light and the
dark page. Where two of them meet, a shape or a dash tells them apart as well. What is selected has no hue: it is
outlined in the text's own colour (plots.theme.WORDS). Rows, layers, heads and positions are counted from 1.

The other hues of plots.theme only tell several of a kind apart: the first is blue, the second orange (random weights
beside a checkpoint, another model, a branch beside the sentence). What stands alone is never orange.
"""

QUERY, KEY, VALUE = "#0072B2", "#C27A00", "#009E73"
MASK = "#C56E9E"
SEGMENT_A, SEGMENT_B = "#2F8FCC", "#D55E00"
OURS, PAPER = "#7B66C9", "#81868F"  # measured by this project · printed in a paper
RIGHT, WRONG = "#009E73", "#D55E00"  # of answers; never the only sign

ATTENTION = {"zmin": 0.0, "zmax": 1.0, "colorscale": "Viridis"}  # a weight is a share: the scale is always 0 to 1
