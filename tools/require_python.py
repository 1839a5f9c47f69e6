"""Stop with one sentence where the Python that runs this is too old for Proofspan."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this is the file that says so
    sys.exit("Proofspan needs Python 3.11 or later; this is Python %d.%d" % sys.version_info[:2])  # noqa: UP031
