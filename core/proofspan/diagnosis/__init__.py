"""Labels and signals by fixed rules: those of the triage recipe (docs/requirements.md), and more."""
