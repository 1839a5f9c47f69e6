"""The dashboard's pages: their scripts, titles and addresses."""

from __future__ import annotations

HEALTH_TITLE, WALKTHROUGH_TITLE = "Health", "Walkthrough"
QUESTION_TITLE, COMPARE_TITLE, REPORT_TITLE = "Question", "Compare", "Release report"
HEALTH_PAGE, TRIAGE_PAGE = "pages/health.py", "pages/triage.py"
#: The page that opens other files; its link is beside the workspace's name.
OPEN_PAGE, OPEN_TITLE, OPEN_PATH = "pages/open.py", "Open your data", "open"
#: Addresses that no page has, by the path of the page that they lead to. Triage is at the root.
MOVED: dict[str, str] = {"workspace": "health", "triage": ""}
#: Streamlit names the page at the root after its script, which would keep `/triage` from being redirected.
ROOT_NAME = "root"
#: The title where an address is that of no page, and where addresses of several parts are redirected to, with
#: the parameter that holds them.
NO_PAGE_TITLE, NO_PAGE_PATH, NO_PAGE_ADDRESS = "There is no page here", "no-page", "address"
#: Navigation: group → (script, title, url path). A page that does not exist is not named.
PAGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Browse": (
        (TRIAGE_PAGE, "Triage", ""),
        ("pages/question.py", QUESTION_TITLE, "question"),
        ("pages/walkthrough.py", WALKTHROUGH_TITLE, "walkthrough"),
    ),
    "Measure": (
        ("pages/trends.py", "Trends", "trends"),
        ("pages/compare.py", COMPARE_TITLE, "compare"),
        ("pages/report.py", REPORT_TITLE, "report"),
        ("pages/whatif.py", "What-if", "whatif"),
    ),
    "Trust": (
        (HEALTH_PAGE, HEALTH_TITLE, "health"),
        ("pages/sprint.py", "Sprint", "sprint"),
    ),
}
