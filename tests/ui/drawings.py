"""A plot that tells how often it was drawn."""

import plotly.graph_objects as go

drawn: list[list] = []


def points(heights):
    drawn.append(heights)
    return go.Figure(go.Scatter(x=[1, 2], y=heights, mode="markers"))
