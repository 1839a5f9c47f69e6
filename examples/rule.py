from collections.abc import Iterator, Mapping

from proofspan.contracts.rules.catalogue import Rule, checks, problem
from proofspan.contracts.rules.context import Context
from proofspan.errors import Problem


@checks("answer", "trace")
@Rule(
    "answer_too_long",
    "answer",
    "answer too long",
    "The answer has more than 4,000 characters.",
    "Ask for a short answer in the prompt.",
    "warning",
)
def answer_length(record: Mapping[str, object], context: Context) -> Iterator[Problem]:
    """Check the length of the answer."""
    for name in ("answer", "answer_text"):
        if isinstance(answer := record.get(name), str) and len(answer) > 4_000:
            yield problem("answer_too_long", name, f"the answer has {len(answer):,} characters")
