"""A store that another process holds is waited for as long as it was said, and no longer; what a hub asks of a core."""

from contextlib import closing
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from actors.hub import composition as hub
from events.recovery import opening
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogInUseError


class Watch:
    """Stands for the clock: waiting is all that makes time pass, and something happens after so many waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.waits = 0
        self.holder: DuckDBLog | None = None
        """Lets its store go at the third wait."""
        for module in (hub, opening):
            monkeypatch.setattr(module, "monotonic", lambda: self.now)
        monkeypatch.setattr(opening, "sleep", self.wait)

    def wait(self, seconds: float) -> None:
        self.waits += 1
        self.now += seconds
        if self.holder is not None and self.waits == 3:
            self.holder.close()


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def test_a_store_that_is_about_to_be_let_go_is_waited_for(tmp_path: Path, watch: Watch) -> None:
    watch.holder = DuckDBLog(tmp_path)
    with hub.open_hub(tmp_path, patience=10.0) as opened:
        assert opened.store.is_alive()
    assert watch.waits == 3


@pytest.mark.parametrize("patience", [0.0, 1.0])
def test_a_store_that_is_kept_is_in_use_once_patience_is_at_its_end(
    tmp_path: Path, watch: Watch, patience: float
) -> None:
    with (
        closing(DuckDBLog(tmp_path)),
        pytest.raises(LogInUseError),
        hub.open_hub(tmp_path, patience=patience),
    ):
        pass
    assert watch.now == pytest.approx(patience, abs=opening.LOCK_POLL)
    assert (watch.waits > 0) == (patience > 0)


def test_products_of_matrices_take_one_thread(tmp_path: Path) -> None:
    with threadpool_limits(2, user_api="blas"), hub.open_hub(tmp_path):
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
