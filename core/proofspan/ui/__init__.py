"""The dashboard: the only room that imports Streamlit."""
