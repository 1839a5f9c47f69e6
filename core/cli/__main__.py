"""`python -m core.cli`, for where the entry point is not installed."""

from core.cli import main

main()
