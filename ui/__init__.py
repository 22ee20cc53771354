"""What the pages share in Streamlit."""
