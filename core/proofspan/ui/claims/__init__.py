"""The claims of an answer in the browser: marked in its text, listed, and connected with the page."""
