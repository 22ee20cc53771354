"""Pure functions: tokens and tensors in, plotly figures out. Nothing here knows of Streamlit."""
