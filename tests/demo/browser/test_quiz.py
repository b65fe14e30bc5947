"""The quiz: by keyboard, by mouse, and after a failed request."""

import pytest

pytestmark = pytest.mark.browser


def is_answer(response) -> bool:
    return response.request.method == "POST" and "/puzzles/" in response.url


def test_three_rounds_by_keyboard(open_page):
    page = open_page("/#quiz")
    score, rounds = 0, 3
    notes = page.locator("#options .note")
    for number in range(rounds):
        page.wait_for_selector("#options button:enabled")
        with page.expect_response(is_answer) as answered:
            page.keyboard.press(str(number + 1))
        result = answered.value.json()
        page.wait_for_selector("#next:visible")
        score += result["right"] == number
        right = page.locator("#options li.right")
        assert right.count() == 1
        assert right.locator("kbd").inner_text().startswith(str(result["right"] + 1))
        assert "you" in notes.nth(number).inner_text()
        assert "model" in notes.nth(result["picked"]).inner_text()
        assert result["words"] in page.locator("#result").inner_text()
        page.keyboard.press("4")  # too late
        assert page.locator("#rounds i").count() == number + 1
        page.keyboard.press("Enter")
    page.wait_for_selector("#options button:enabled")
    assert int(page.locator("#score-you").inner_text()) == score
    assert int(page.locator("#score-it").inner_text()) <= rounds


def test_a_round_by_mouse(open_page):
    page = open_page()
    page.get_by_role("tab", name="Quiz").click()
    page.wait_for_selector("#options button:enabled")
    page.locator("#options button").nth(2).click()
    page.wait_for_selector("#next:visible")
    assert page.locator("#play").is_hidden() and page.locator("#rounds i").count() == 1


def test_a_choice_that_did_not_arrive_can_be_made_again(failing_page):
    page = failing_page("/#quiz", "**/api/puzzles/**")
    page.wait_for_selector("#options button:enabled")
    page.keyboard.press("1")
    page.wait_for_selector("#trouble:visible")
    assert page.locator("#rounds i").count() == 0
    page.unroute("**/api/puzzles/**")
    page.keyboard.press("2")
    page.wait_for_selector("#next:visible")
    assert "you" in page.locator("#options .note").nth(1).inner_text()
    assert page.locator("#trouble").is_hidden()


def test_an_answer_to_another_question_does_not_hide_what_failed(failing_page):
    page = failing_page("/#quiz", "**/api/puzzles/**")
    page.wait_for_selector("#play[aria-busy=false]", state="attached")
    held = []
    page.route("**/api/play", lambda route: held.append(route))
    with page.expect_request("**/api/play"):
        page.evaluate("document.getElementById('again').click()")
    page.keyboard.press("1")
    page.wait_for_selector("#trouble:visible")
    with page.expect_response("**/api/play"):
        held[0].continue_()
    page.wait_for_selector("#play[aria-busy=false]", state="attached")
    assert page.locator("#trouble").is_visible()
