"""Fixtures of the tests of the docs."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from tests.docs.kit import DOCS


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """The generator of the reference, as a module."""
    spec = importlib.util.spec_from_file_location("generate_reference", DOCS / "generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
