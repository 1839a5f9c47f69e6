"""A page with one of everything that the dashboard draws, served with the dashboard's own headers.

The environment variable CANARY names a server that nothing on this page may ever reach.
"""

import io
import os
from pathlib import Path

import pandas as pd
import plotly.express as px
import streamlit as st
from PIL import Image
from streamlit.starlette import App

from proofspan.ui.app import security

VIEWER_HTML = """<div class="viewer">
<button type="button">not yet</button></div>"""
VIEWER_CSS = """.viewer button {
  color: rgb(1, 2, 3); }"""
VIEWER_JS = """export default function (component) {
  const button = component.parentElement.querySelector("button");
  button.textContent = component.data.text;
  button.onclick = () => component.setTriggerValue("pressed", "yes");
}
"""


def draw() -> None:
    """One of everything, then markup that tries to reach the canary."""
    st.set_page_config(page_title="Everything")
    st.dataframe(pd.DataFrame({"question": ["What is Z?"], "coverage": [0.5]}))
    st.plotly_chart(px.bar(x=["ok", "drift"], y=[3, 1]))
    picture = io.BytesIO()
    Image.new("RGB", (40, 20), (200, 30, 30)).save(picture, "PNG")
    st.image(picture.getvalue(), output_format="PNG", width=40)
    viewer = st.components.v2.component("viewer", html=VIEWER_HTML, css=VIEWER_CSS, js=VIEWER_JS)
    result = viewer(data={"text": "drawn by the component"}, key="v", on_pressed_change=lambda: None)
    st.text(f"pressed: {result.pressed}")
    st.html("<style>.own { letter-spacing: 3px }</style><p class='own'>own style</p>")
    canary = os.environ.get("CANARY")
    if canary:
        st.markdown(f"![picture]({canary}/markdown.png)")
        st.html(f"<img src='{canary}/html.png'><style>body {{ background: url({canary}/style.png) }}</style>")
        st.html(f"<iframe src='{canary}/frame'></iframe><link rel='stylesheet' href='{canary}/link.css'>")
        st.plotly_chart(px.bar(x=[f"<span style='background:url({canary}/label.png)'>label</span>"], y=[1]))
        st.dataframe(
            pd.DataFrame({"link": [f"{canary}/column.png"]}),
            column_config={"link": st.column_config.ImageColumn()},
        )
    st.text("the end")


if __name__ == "__main__":
    draw()
else:
    app = App(Path(__file__), middleware=security.middleware())
