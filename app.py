"""The dashboard's entry: page config, security headers and navigation, nothing else.

The server imports this module once for `app`; Streamlit then runs it as the main script for every visit.
"""

from pathlib import Path

from streamlit.starlette import App

from core.ui import security, shell

if __name__ == "__main__":
    shell.run()
else:
    app = App(Path(__file__), middleware=security.middleware())
