"""Calibration error and Brier skill."""

import numpy as np
import pytest

from clustruct.evaluate.metrics import brier_skill, calibration_error


def test_right_probabilities_have_little_error_and_wrong_ones_their_distance():
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    y = rng.random(50_000) < p
    assert calibration_error(y, p) < 0.01
    assert calibration_error(y, np.clip(p + 0.2, 0, 1)) == pytest.approx(0.18, abs=0.02)
    assert brier_skill(y, p) == pytest.approx(1.0 - (1 / 6) / (1 / 4), abs=0.02)


def test_only_cases_between_the_bounds_count():
    y, p = np.array([0, 0, 1, 1]), np.array([0.99, 0.5, 0.5, 0.01])
    assert calibration_error(y, p, bins=1, between=(0.05, 0.95)) == 0.0
    assert np.isnan(calibration_error(y, p, between=(0.6, 0.7)))
    assert np.isnan(brier_skill([1, 1], [0.5, 0.5]))


def test_refusals():
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier_skill([1, 0], [2.0, 0.0])
    with pytest.raises(ValueError, match="shape"):
        brier_skill([1, 0], [0.5])
