"""Rules for every test of the tree."""

import pytest

_ADDRESS = " at 0x"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test whose name holds an object's address: test processes would each collect another test."""
    moving = [item.nodeid for item in items if _ADDRESS in item.nodeid]
    if moving:
        message = f"these tests have a new name in every process; give their parameters ids: {moving}"
        raise pytest.UsageError(message)
