"""The rules of the contract. Importing any module of this package registers all of them."""

from proofspan.contracts.rules import chunks, elsewhere, envelope, records, run
from proofspan.contracts.rules.catalogue import load_plugins

__all__ = ["chunks", "elsewhere", "envelope", "records", "run"]

load_plugins()
