"""mindspore.log on the standard library."""

import logging

import pytest

from ms2torch.runtime._backend import log


@pytest.fixture
def fresh(monkeypatch):
    """The module before its first message, with a given level."""

    def make(level):
        monkeypatch.setattr(log, "_logger", None)
        if level is None:
            monkeypatch.delenv("GLOG_v", raising=False)
        else:
            monkeypatch.setenv("GLOG_v", level)
        logging.getLogger(log.__name__).handlers.clear()

    yield make
    log._logger = None


def test_default_level(fresh, caplog):
    fresh(None)
    assert log.get_level() == "2"
    log.info("hidden")
    log.warning("rank %s of %s", 1, 2)
    log.error("bad")
    assert [r.getMessage() for r in caplog.records] == ["rank 1 of 2", "bad"]
    assert {r.filename for r in caplog.records} == {"test_log.py"}


def test_debug_level(fresh, caplog):
    fresh("0")
    log.debug("seen")
    log.critical("too")
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("DEBUG", "seen"), ("CRITICAL", "too")]
    assert log.get_log_config()["GLOG_v"] == "0"


def test_a_level_that_is_none(fresh):
    fresh("7")
    with pytest.raises(ValueError, match="GLOG_v is '7'"):
        log.info("x")


def test_alone_it_writes_to_the_error_stream(fresh, capsys, monkeypatch):
    fresh("2")
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    log.warning("here")
    logger = logging.getLogger(log.__name__)
    try:
        assert "[WARNING] ME(" in capsys.readouterr().err
    finally:
        logger.handlers.clear()
        logger.propagate = True
