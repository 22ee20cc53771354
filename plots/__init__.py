"""Pure functions: tokens and tensors in, plotly figures out. Independent of Streamlit."""
