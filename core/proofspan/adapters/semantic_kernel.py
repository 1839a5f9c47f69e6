"""Semantic Kernel's `Citation` records → the citation payload."""

from __future__ import annotations

from typing import Unpack

from proofspan.adapters.payload import Given, Payload, payload


def semantic_kernel_payload(record: object, **given: Unpack[Given]) -> Payload:
    """The citation payload of a `Citation` record, exported as JSON or with its fields as attributes.

    The keywords are those of `Given`. The record has the payload's fields already, spelled as its serializer
    was told: `doc_id`, `docId` or `DocId`, offsets and window too. A C# string counts UTF-16 units, so behind
    an emoji its offsets lie further on than characters do; they are carried on as stated.
    """
    return payload(record, {}, **given)
