"""Write the report as the one comment of this action on a pull request, or update it.

The comment never decides the result: if it cannot be written, a notice or warning says so, and the exit
status is 0.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from runner import annotate

#: GitHub takes 65,536 characters; the rest is for what is added to the report.
MOST_CHARACTERS = 60_000
TIMEOUT_S = 30
#: Answers of GitHub to a token that may not write. It says 404 where the token may not even read.
REFUSALS = (401, 403, 404)
ELSEWHERE = "the report is in the summary of the run"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow no redirect, so that the token goes to no other host."""

    def redirect_request(self, *_: Any) -> None:
        return None


def main() -> None:
    """Update the comment of an earlier push, or add one."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_bytes())
    pull_request = event.get("pull_request")
    if pull_request is None:
        print("Not a pull request, so there is no comment.")
        return
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    comments = f"{repository}/{int(pull_request['number'])}/comments"
    # `quote` leaves no `>`, so that nothing ends the marker.
    marker = f"<!-- proofspan gate {quote(os.environ['GATE_WORKSPACE'])} -->"
    try:
        earlier = next((each["id"] for each in _all(comments) if _is_ours(each, marker)), None)
        body = {"body": f"{marker}\n{_report()}{_origin(pull_request)}"}
        if earlier is None:
            _request("POST", comments, body)
        else:
            _request("PATCH", f"{repository}/comments/{int(earlier)}", body)
    except urllib.error.HTTPError as error:
        _say_why_not(error, is_fork=_is_fork(pull_request))
    except (OSError, ValueError) as error:
        annotate("warning", f"No comment on the pull request: {error}; {ELSEWHERE}", title="Proofspan gate")


def _all(comments: str) -> Iterator[dict[str, Any]]:
    page, has_more = 1, True
    while has_more:
        found, link = _request("GET", f"{comments}?per_page=100&page={page}")
        yield from found
        page, has_more = page + 1, 'rel="next"' in link


def _is_ours(comment: dict[str, Any], marker: str) -> bool:
    """Return whether a comment is this action's: a person may write the marker, and edit the comment."""
    user = comment.get("user") or {}
    return user.get("type") == "Bot" and (comment.get("body") or "").startswith(marker)


def _report() -> str:
    """Return the report, cut after a line if it is too long for a comment."""
    text = Path(os.environ["GATE_REPORT"]).read_text("utf-8")
    if len(text) <= MOST_CHARACTERS:
        return text
    cut = text[: text.rindex("\n", 0, MOST_CHARACTERS) + 1]
    lines = cut.splitlines()
    ends = "\n</details>\n" * (lines.count("<details>") - lines.count("</details>"))
    return f"{cut}{ends}\nToo long for a comment; {ELSEWHERE}.\n\n"


def _origin(pull_request: dict[str, Any]) -> str:
    """Return the line that names commit and run."""
    run = (
        f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
        f"/actions/runs/{os.environ['GITHUB_RUN_ID']}"
    )
    return f"\nCommit {str(pull_request['head']['sha'])[:12]}, [run]({run})\n"


def _is_fork(pull_request: dict[str, Any]) -> bool:
    """Return whether the branch is of another repository; a deleted one is null."""
    head, base = (pull_request[side]["repo"] for side in ("head", "base"))
    return head is None or head["full_name"] != base["full_name"]


def _say_why_not(error: urllib.error.HTTPError, *, is_fork: bool) -> None:
    level, why = "warning", f"GitHub answers {error.code} {error.reason}"
    if error.code in REFUSALS and is_fork:
        level, why = "notice", "the token of a pull request from a fork may only read"
    elif error.code in REFUSALS:
        why += "; the job needs `permissions: pull-requests: write`"
    annotate(level, f"No comment on the pull request: {why}; {ELSEWHERE}", title="Proofspan gate")


def _request(method: str, url: str, body: dict[str, str] | None = None) -> tuple[Any, str]:
    """Ask GitHub; return its JSON and the header `Link`. Raises HTTPError for any other answer than 2xx."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {os.environ['GATE_TOKEN']}",
        "Content-Type": "application/json",
        "User-Agent": "proofspan-gate",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the runner's address
    with urllib.request.build_opener(_NoRedirects).open(request, timeout=TIMEOUT_S) as answer:
        return json.load(answer), answer.headers.get("Link") or ""


if __name__ == "__main__":
    main()
