"""Parts of a page that run alone, beside runs of the whole page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import PageAt, Serve, WaitForRun, wait_for_query
from tests.browser.held_wire import HeldWire

pytestmark = pytest.mark.browser

APPS = Path(__file__).parent / "apps"


def test_what_a_run_drew_at_its_end_is_shown_though_a_fragment_is_asked_for_just_then(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "ended_run.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("counting")).to_be_visible()
    page.get_by_role("button", name="Part").click()
    expect(page.get_by_text("counted")).to_be_visible()


def test_a_fragments_request_from_a_page_that_was_left_takes_nothing_away(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    parts: list[str] = []

    def note(sent: str | bytes) -> None:
        if isinstance(sent, bytes):
            message = ForwardMsg.FromString(sent)
            if message.WhichOneof("type") == "new_session":
                parts.extend(message.metadata.run.fragment_ids)

    page.on("websocket", lambda websocket: websocket.on("framereceived", note))
    page.goto(serve(app=APPS / "left_page.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Part").click()
    page.get_by_role("link", name="Onwards").click()
    expect(page.get_by_text("page two")).to_be_visible()
    page.get_by_role("button", name="Again").click()
    expect(page.get_by_text("counted")).to_be_visible()
    expect(page.get_by_text("page two")).to_be_visible()
    assert parts == [], "no run of the first page's fragment is announced"


def test_a_fragment_is_run_that_is_asked_for_during_a_pages_first_run(serve: Serve, page_at: PageAt) -> None:
    page = page_at()
    page.goto(f"{serve(app=APPS / 'first_run.py').url}/beside")
    expect(page.get_by_text("drawn")).to_be_visible()
    page.get_by_role("button", name="Part").click()
    expect(page.get_by_text("counted")).to_be_visible()


def test_a_page_that_is_asked_for_while_its_fragment_runs_is_not_drawn_inside_it(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "during_fragment.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Part").click()
    expect(page.get_by_text("waiting")).to_be_visible()
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("counted")).to_be_visible()
    wait_for_run(page)
    expect(page.get_by_text("whole page")).to_have_count(1)
    expect(page.locator(".st-key-part").get_by_text("whole page")).to_have_count(0)


def test_a_click_is_not_lost_when_a_fragment_asks_for_the_page_that_is_left(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    page.goto(serve(app=APPS / "left_by_rerun.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Once it is left").click()
    page.get_by_role("link", name="Onwards").click()
    expect(page.get_by_text("page two")).to_be_visible()
    wait_for_run(page)
    assert page.url.endswith("/second")


def test_back_is_not_lost_when_the_page_that_is_left_is_asked_for_again(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    page.goto(serve(app=APPS / "left_by_back.py").url)
    wait_for_run(page)
    page.get_by_role("link", name="Onwards").click()
    wait_for_run(page)
    page.get_by_role("button", name="Wait").click()
    expect(page.get_by_text("waiting")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("page one")).to_be_visible()
    wait_for_run(page)
    expect(page.get_by_text("page one")).to_be_visible()


def test_a_callback_runs_to_its_end_when_another_press_comes_meanwhile(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "during_callback.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Choose").click()
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("kept")).to_be_visible()
    wait_for_query(page, chosen="yes")


def test_a_press_that_the_script_answers_is_answered_when_another_comes_meanwhile(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "during_answer.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("counted 1")).to_be_visible()
    expect(page.get_by_text("kept", exact=True)).to_be_visible()


def test_a_press_in_a_fragment_is_answered_though_the_page_has_been_drawn_without_it(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    """The browser hears of that run after the press."""
    page = page_at(own=True)
    wire = HeldWire(page)
    page.goto(serve(app=APPS / "fragment_press.py").url)
    wait_for_run(page)
    wire.hold()
    page.get_by_role("button", name="Go").click()
    wire.release_sent()
    page.get_by_role("button", name="Choose").click()
    wire.release_received()
    expect(page.get_by_text("whole")).to_be_visible()
    wire.release()
    expect(page.get_by_text("chosen 1")).to_be_visible()


@pytest.mark.parametrize("run", ["Stay", "Go"])
def test_a_press_in_a_fragment_is_answered_while_the_page_that_was_opened_first_runs(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, run: str
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "fragment_press.py").url)
    wait_for_run(page)
    page.get_by_text("Once a press waits").click()
    wait_for_run(page)
    page.get_by_role("button", name=run).click()
    page.get_by_role("button", name="Choose").click()
    expect(page.get_by_text("chosen 1")).to_be_visible()
    expect(page.get_by_text("whole")).to_have_count(int(run == "Go"))


def test_a_run_of_the_page_that_is_left_adds_no_entry_to_the_history(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    """The browser hears of that run after the click, the server of the click after that run."""
    page = page_at(own=True)
    wire = HeldWire(page)
    page.goto(serve(app=APPS / "left_by_rerun.py").url)
    wait_for_run(page)
    before = page.evaluate("history.length")
    wire.hold()
    page.get_by_role("button", name="At once").click()
    wire.release_sent()
    page.get_by_role("link", name="Onwards").click()
    page.wait_for_url("**/second")
    wire.release_received()
    expect(page.get_by_text("again")).to_be_visible()
    wire.release()
    expect(page.get_by_text("page two")).to_be_visible()
    assert page.url.endswith("/second")
    assert page.evaluate("history.length") == before + 1


def test_a_page_runs_again_when_its_task_is_done_though_the_browser_does_not_ask(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, tmp_path: Path
) -> None:
    page, gate = page_at(own=True), tmp_path / "gate"

    def without_looks(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def pass_on(sent: str | bytes) -> None:
            is_look = isinstance(sent, bytes) and BackMsg.FromString(sent).rerun_script.fragment_id
            if not is_look:
                server.send(sent)

        route.on_message(pass_on)

    page.route_web_socket("**/_stcore/stream", without_looks)
    page.goto(serve(app=APPS / "waiting.py", GATE=str(gate)).url)
    expect(page.get_by_text("waiting")).to_be_visible()
    page.get_by_role("textbox").fill("words")
    page.get_by_role("textbox").press("Enter")
    expect(page.get_by_text("typed")).to_be_visible()
    gate.touch()
    expect(page.get_by_text("made")).to_be_visible()
    expect(page.get_by_text("typed")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value("words")
    expect(page.get_by_text("waiting")).to_have_count(0)


def test_what_is_typed_while_a_page_runs_again_by_itself_stays(
    serve: Serve, page_at: PageAt, tmp_path: Path
) -> None:
    """The browser hears of that run after the reader has typed."""
    page, gate = page_at(own=True), tmp_path / "gate"
    wire = HeldWire(page)
    page.goto(serve(app=APPS / "waiting.py", GATE=str(gate)).url)
    expect(page.get_by_text("waiting")).to_be_visible()
    wire.hold()
    gate.touch()
    page.get_by_role("textbox").fill("words")
    page.get_by_role("textbox").press("Enter")
    wire.release_received()
    expect(page.get_by_text("made")).to_be_visible()
    wire.release()
    expect(page.get_by_text("typed")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value("words")


@pytest.mark.parametrize(
    ("pressed", "answer"), [("Its question", "question 1"), ("Count", "counted"), ("Mark", "marked")]
)
def test_a_value_that_a_link_has_replaced_is_not_chosen_again_by_the_next_press(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, pressed: str, answer: str
) -> None:
    """The browser draws the link's page only after that press."""
    page = page_at(own=True)
    wire = HeldWire(page)
    page.goto(serve(app=APPS / "stale_choice.py").url)
    wait_for_run(page)
    wire.hold()
    page.get_by_role("link", name="Two").click()
    wire.release_sent()
    wire.wait_for_received("script_finished")
    page.get_by_text(pressed, exact=True).click()
    wire.release()
    wire.release_received()
    expect(page.get_by_text(answer)).to_be_visible()
    expect(page.get_by_text("run two")).to_be_visible()
    wait_for_query(page, run="two")


def test_a_value_that_a_link_has_replaced_can_be_chosen_again(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "stale_choice.py").url)
    wait_for_run(page)
    page.get_by_role("link", name="Two").click()
    expect(page.get_by_text("run two")).to_be_visible()
    wait_for_run(page)
    page.get_by_role("combobox").click()
    page.get_by_role("option", name="one").click()
    expect(page.get_by_text("run one")).to_be_visible()
    wait_for_query(page, run="one")


class Wire:
    """A page's websocket, with what is sent for parts of it, that a test can cut."""

    def __init__(self, page: Page) -> None:
        self.asked, self.clocks, self.is_cut = 0, 0, False
        self._close: Callable[[], None] = lambda: None
        page.route_web_socket("**/_stcore/stream", self._route)

    def cut(self) -> None:
        """Break the connection off, until `is_cut` is False again."""
        self.is_cut = True
        self._close()

    def _route(self, route: WebSocketRoute) -> None:
        if self.is_cut:
            route.close()
            return
        server = route.connect_to_server()

        def close() -> None:
            server.close()
            route.close()

        def send(message: str | bytes) -> None:
            if isinstance(message, bytes):
                self.asked += bool(BackMsg.FromString(message).rerun_script.fragment_id)
            server.send(message)

        def receive(message: str | bytes) -> None:
            if isinstance(message, bytes):
                self.clocks += ForwardMsg.FromString(message).WhichOneof("type") == "auto_rerun"
            route.send(message)

        self._close = close
        route.on_message(send)
        server.on_message(receive)


def test_steps_of_a_job_reach_every_tab_without_a_clock_and_its_end_one_that_was_cut_off(
    serve: Serve, page_at: PageAt, tmp_path: Path
) -> None:
    tabs = [page_at(own=True) for _ in range(3)]
    wires = [Wire(page) for page in tabs]
    url = serve(app=APPS / "pushed.py", FOLDER=str(tmp_path)).url
    for page in tabs:
        page.goto(url)
        expect(page.get_by_text("step none")).to_be_visible()
        expect(page.get_by_text("waiting")).to_be_visible()
    # A browser that has seen a part run since asks for the page itself when it is back.
    cut, *others = zip(tabs, wires, strict=True)
    cut[1].cut()
    for step in ("first", "second"):
        (tmp_path / step).touch()
        for page, _ in others:
            expect(page.get_by_text(f"step {step}")).to_be_visible()
    (tmp_path / "end").touch()
    for page, _ in others:
        expect(page.get_by_text("over")).to_be_visible()
        expect(page.get_by_text("waiting")).to_have_count(0)
    expect(cut[0].get_by_text("step none")).to_be_visible()
    cut[1].is_cut = False
    expect(cut[0].get_by_text("over")).to_be_visible()
    expect(cut[0].get_by_text("waiting")).to_have_count(0)
    assert [(wire.asked, wire.clocks) for wire in wires] == [(0, 0)] * len(tabs)
