"""Ctrl-C beside a loop of updates."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from llm_gym.training.watch import Watch


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_once_asks_to_stop_and_twice_ends_at_once() -> None:
    with Watch(3) as watch:
        assert not watch.stopping
        press()
        assert watch.stopping
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_outside_the_main_thread_it_leaves_signals_alone() -> None:
    seen = []

    def watched() -> None:
        with Watch(1) as watch:
            watch.tell(1)
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=watched)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
