"""The results of what-ifs as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from proofspan.contracts.records.records import Json
from proofspan.services.metrics.report import difference_to_json, pairs_to_json, value_to_json
from proofspan.services.whatif.params import params_of
from proofspan.services.whatif.types import Logged, Settings, Sweep, WhatIf


def settings_to_json(settings: Settings) -> dict[str, Json]:
    """Return settings as texts by name, as `settings_of` reads them."""
    return {name: list(texts) for name, texts in params_of(settings).items()}


def logged_to_json(found: Logged) -> dict[str, Json]:
    """Return what a run logs."""
    return {
        "run_id": found.run_id,
        "questions": found.questions,
        "reproduced": found.reproduced,
        "lists": [asdict(each) for each in found.lists],
        "features": [asdict(each) for each in found.features],
        "settings": settings_to_json(found.settings),
        "why": list(found.why),
    }


def what_if_to_json(found: WhatIf) -> dict[str, Json]:
    """Return the result of settings, with every question that moves."""
    return {
        "run_id": found.logged.run_id,
        "questions": found.logged.questions,
        "reproduced": found.logged.reproduced,
        "settings": settings_to_json(found.settings),
        "metrics": pairs_to_json(found.pairs),
        "flips": {name: asdict(flips) for name, flips in found.flips.items()},
        "changes": {
            name: [{"was": was, "now": now, "questions": count} for was, now, count in rows if was != now]
            for name, rows in found.changes.items()
        },
        "prompts_changed": found.prompts_changed,
        "moved": [_plain(record) for record in found.moved.to_dict("records")],
        "notes": list(found.notes),
    }


def sweep_to_json(run_id: str, found: Sweep) -> dict[str, Json]:
    """Return a metric over the values of a setting."""
    return {
        "run_id": run_id,
        "settings": settings_to_json(found.settings),
        "swept": found.swept,
        "name": found.name,
        "metric": found.metric_id,
        "tried": found.tried,
        "points": [
            {
                "value": point.value,
                "metric": value_to_json(point.metric),
                "difference": difference_to_json(point.difference),
                "p": point.p,
                "clear": point.is_clear,
                "logged": point.is_logged,
            }
            for point in found.points
        ],
    }


def _plain(record: Mapping[Any, Any]) -> dict[str, Json]:
    return {str(name): None if value is pd.NA else value for name, value in record.items()}
