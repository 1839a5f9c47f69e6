"""Locating quotes on pages and drawing pages; PyMuPDF lives in a worker process of its own."""
