import proofspan

workspace = proofspan.open_workspace()  # the demo; name your own folder instead
report = workspace.triage("R005")
print(report.labels)

row = next(row for row in report.rows if row.q_id == "Q84")
print(row.label, row.signals.numbers_unsupported)

quote = "The distance between the MIN and MAX marks is 1.4 litre"
span = workspace.locate("meridian-2026", quote, page_idx=57)
print(span.status, span.page_idx, span.differences)

print(workspace.gate("R006").counts_in_words())
