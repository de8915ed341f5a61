"""The stop signal: split from its text, in every spelling that models use."""

import pytest

from providers.conversation.stop_signal import SplitReply, split_stop_signal


def test_text_before_the_signal_is_kept_as_a_message() -> None:
    reply = split_stop_signal("Yes, go ahead and open the PR. ###STOP###")
    assert reply == SplitReply("Yes, go ahead and open the PR.", stop=True)


def test_text_after_the_signal_is_kept_too() -> None:
    assert split_stop_signal("###STOP### Yes, open it.") == SplitReply("Yes, open it.", stop=True)


def test_a_message_around_the_signal_keeps_its_order() -> None:
    assert split_stop_signal("Yes.\n###STOP###\nThanks!") == SplitReply("Yes.\nThanks!", stop=True)


@pytest.mark.parametrize(
    "reply",
    [
        "###STOP###",
        "  ###STOP###\n",
        "**###STOP###**",
        "`###STOP###`",
        '"###STOP###"',
        "###stop###",
        "### STOP ###",
        "###STOP",
    ],
)
def test_a_bare_signal_in_any_spelling_is_no_message(reply: str) -> None:
    assert split_stop_signal(reply) == SplitReply("", stop=True)


@pytest.mark.parametrize(
    "text",
    ["Stop the backup on Sundays.", "### Stop the backup\nplease", "Please do not stop ### yet.", "#STOP#"],
)
def test_text_about_stopping_does_not_stop(text: str) -> None:
    assert split_stop_signal(text) == SplitReply(text, stop=False)


def test_two_signals_are_one_stop() -> None:
    assert split_stop_signal("Yes. ###STOP### ###STOP###") == SplitReply("Yes.", stop=True)
