"""Named mixes of answers, after the results that the paper reports for language models (its section 5, figure 3).

The paper gives shares of parseable, solvable and correct answers; which mistakes make up the rest are choices of this
project, as are the shares that it does not give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pddl_eval.benchmark.labels import Outcome


@dataclass(frozen=True, slots=True)
class Preset:
    """``shares`` of the outcomes, of any sum; ``weights`` of kinds within their outcome, 1 where none is given."""

    shares: Mapping[Outcome, float]
    weights: Mapping[str, float] = field(default_factory=dict)


PRESETS: Mapping[str, Preset] = {
    # GPT-4o: 96.1 % parseable, 94.4 % solvable, 24.8 % correct; added types are its commonest mistake (figure 4).
    "zero-shot": Preset(
        {Outcome.UNPARSEABLE: 3.9, Outcome.UNSOLVABLE: 1.7, Outcome.SOLVABLE: 69.6, Outcome.CORRECT: 24.8},
        {"types_added": 6, "in_prose": 3, "in_a_fence": 3, "renamed": 3, "identical": 0},
    ),
    # Gemma 2 27B after fine-tuning: 34.2 % correct, bare PDDL in the dataset's own form.
    "fine-tuned": Preset(
        {Outcome.UNPARSEABLE: 2.0, Outcome.UNSOLVABLE: 4.0, Outcome.SOLVABLE: 59.8, Outcome.CORRECT: 34.2},
        {"identical": 4, "shuffled": 3, "types_added": 0.1, "in_prose": 0, "in_a_fence": 0, "commented": 0},
    ),
    # As many of each outcome as it has kinds, so that every kind comes up about equally often.
    "every-kind": Preset(
        {
            Outcome.CORRECT: 10,
            Outcome.SOLVABLE: 10,
            Outcome.UNSOLVABLE: 4,
            Outcome.OPEN: 1,
            Outcome.UNPARSEABLE: 7,
        }
    ),
}
