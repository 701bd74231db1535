"""The parts by name."""

from __future__ import annotations

from .bad_inputs import BadInputs
from .container import Container
from .fuzz_checkpoints import Checkpoints
from .fuzz_hooks import HookModels
from .fuzz_models import ModelFiles
from .fuzz_stores import Stores
from .kills import Kills
from .large import Large
from .library import Library
from .surroundings import Surroundings
from .tally import Part

PARTS: dict[str, type[Part]] = {
    part.name: part
    for part in (
        ModelFiles,
        Checkpoints,
        HookModels,
        Stores,
        BadInputs,
        Kills,
        Surroundings,
        Library,
        Large,
        Container,
    )
}
