"""`python -m proofspan.cli`, for where the entry point is not installed."""

from proofspan.cli import main

main()
