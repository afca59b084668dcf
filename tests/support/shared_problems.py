"""The 145,918 problems of Planetarium's benchmark, where they are beside the checkout."""

from __future__ import annotations

import pytest

from tests.docs.markdown import ROOT

SHARED_PROBLEMS = ROOT.parent / "shared" / "data" / "planetarium_problems.parquet"

needs_shared_problems = pytest.mark.skipif(not SHARED_PROBLEMS.exists(), reason=f"{SHARED_PROBLEMS} is not here")
