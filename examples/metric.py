from proofspan.metrics.catalogue import Metric, measure

SUPPORTED_NUMBERS = Metric(
    "supported_numbers",
    "Supported numbers",
    "citations",
    "share",
    "Answers all of whose numbers are in the evidence, of those that have a label.",
    "An example of the documentation",
    measure(
        "len(numbers_unsupported) = 0",
        ("label IS NULL", "no_label"),
        columns=("label", "numbers_unsupported"),
    ),
)
