"""The breaker opens after failures in a row, refuses at once, and lets one probe through."""

from __future__ import annotations

import pytest

from clients.breaker import Breaker, BreakerState
from forum.errors import RemoteRefused, RemoteUnavailable


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def fail(breaker: Breaker, error: Exception | None = None) -> None:
    with pytest.raises((RemoteUnavailable, RemoteRefused)), breaker.guard():
        raise error or RemoteUnavailable("down", service="x")


def opened(clock: Clock) -> Breaker:
    breaker = Breaker("x", failures=2, pause_s=5, ceiling_s=15, clock=clock)
    fail(breaker)
    fail(breaker)
    return breaker


def test_it_opens_after_failures_in_a_row_and_says_when_to_come_back() -> None:
    breaker = opened(Clock())
    with pytest.raises(RemoteUnavailable) as refused, breaker.guard():
        pytest.fail("was let through")
    assert (breaker.state, refused.value.retry_after_s) == (BreakerState.OPEN, 5)


def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = Breaker("x", failures=2)
    fail(breaker)
    with breaker.guard():
        pass
    fail(breaker)
    assert breaker.state is BreakerState.CLOSED


def test_after_the_pause_one_probe_goes_through_and_closes_it() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now = 6
    with breaker.guard():
        assert breaker.state is BreakerState.HALF_OPEN
        with pytest.raises(RemoteUnavailable), breaker.guard():
            pytest.fail("a second probe")
    assert breaker.state is BreakerState.CLOSED


def test_a_failed_probe_doubles_the_pause_up_to_the_ceiling() -> None:
    clock = Clock()
    breaker = opened(clock)
    pauses = []
    for _ in range(3):
        clock.now += 60
        fail(breaker)
        with pytest.raises(RemoteUnavailable) as refused, breaker.guard():
            pass
        pauses.append(refused.value.retry_after_s)
    assert pauses == [10, 15, 15]


@pytest.mark.parametrize(
    "answer", [RemoteRefused("no", service="x", status=403), RemoteUnavailable("slow down", service="x", status=429)]
)
def test_an_answer_shows_that_the_service_lives(answer: Exception) -> None:
    breaker = Breaker("x", failures=1)
    fail(breaker, answer)
    assert breaker.state is BreakerState.CLOSED


def test_every_change_is_told() -> None:
    told: list[tuple[str, str]] = []
    breaker = Breaker("x", failures=1, on_change=lambda service, state: told.append((service, state.value)))
    fail(breaker)
    assert told == [("x", "open")]
