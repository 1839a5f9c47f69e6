"""The dashboard's entry: page config, security headers and navigation, nothing else.

The server imports this module once for `app`; Streamlit then runs it as the main script for every visit.
"""

from pathlib import Path

from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from proofspan.ui.app import security, shell

if __name__ == "__main__":
    shell.run()
else:
    # Streamlit believes in a `pages/` folder until `st.navigation` has run once: a server's first visit to a
    # deep link would run that page's script alone, without its frame.
    PagesManager.uses_pages_directory = False
    app = App(Path(__file__), middleware=security.middleware())
