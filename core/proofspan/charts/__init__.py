"""Plain dataclasses → Plotly figures in our theme. Where the numbers came from is not known here."""
