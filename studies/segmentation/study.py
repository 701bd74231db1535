"""The tables on image segmentation."""

from __future__ import annotations

from typing import Any

from studies import rendering
from studies.segmentation import images, methods, regions, tables
from studies.study import Study, Table


def render(rows: list[dict[str, Any]]) -> str:
    """One row for each method."""
    return rendering.markdown(rows, {"variation": 2, "rand": 3, "segments": 1, "p": 4})


STUDY = Study(
    "segmentation",
    "Image segmentation: regions put together as people do",
    (
        Table(
            "people",
            "Distance to the segmentations of people, 100 photographs",
            tables.against_people,
            render=render,
            data=tuple(images.FILES.values()),
            sources=(images, methods, regions),
        ),
    ),
    small="people",
)
