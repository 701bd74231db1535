"""What all pictures share: axes to draw on, colours that most eyes can tell apart, names that fit."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable, Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from numpy.typing import ArrayLike

from clustruct.core.formatting import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Axes to draw on, new ones where there are none; names of the items of a set.
Ax: TypeAlias = "Axes | None"
Names: TypeAlias = Sequence[Hashable] | None

# Okabe and Ito's palette, without yellow (too faint for thin strips) and black (text).
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C")
FOR, AGAINST, QUIET = "#0072B2", "#D55E00", "#9A9A9A"
DIVERGING = "RdBu"
# Small letters beside a point.
BESIDE: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small"}


class Display:
    """A picture; after `plot` the axes and the figure it was drawn on are `ax_` and `figure_`."""

    ax_: Axes
    figure_: Any

    def _repr_html_(self) -> str | None:
        """What notebooks show of a picture that pyplot does not show by itself."""
        figure = getattr(self, "figure_", None)
        if figure is None or hasattr(figure, "number"):
            return None
        held = BytesIO()
        figure.savefig(held, format="png")
        data = b64encode(held.getvalue()).decode()
        return f'<img alt="{type(self).__name__}" src="data:image/png;base64,{data}">'

    def drawn_on(self, ax: Axes, title: str, pad: float | None = None) -> Self:
        """The last step of a drawing: title and frame."""
        plain(ax.set_title(title, fontsize="medium", pad=pad))
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def need_matplotlib(extra: str = "plot") -> None:
    """Refuse to draw without matplotlib, and say how to get it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"plots need matplotlib: pip install clustruct[{extra}]") from error


def axes_for(ax: Ax, width: float = 6.4, height: float = 4.8) -> Axes:
    """The axes given, or those of a new figure of this size in inches."""
    need_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def strip_colour(number: int) -> tuple[float, float, float]:
    """A colour for a cluster: the palette, then its light shades, then its dark ones, then again."""
    from matplotlib.colors import to_rgb

    round_, place = divmod(number, len(PALETTE))
    towards, share = ((0.0, 0.0), (1.0, 0.55), (0.0, 0.45))[round_ % 3]
    red, green, blue = (share * towards + (1.0 - share) * part for part in to_rgb(PALETTE[place]))
    return red, green, blue


def distinct(names: Iterable[object], most: int = 40) -> list[str]:
    """Names shortened; where that makes different ones equal, what they begin with in common goes first.

    >>> distinct(["a story of one in the news", "a story of two in the news", "b"], 13)
    ['…one in…e news', '…two in…e news', 'b']
    """
    full = [short(name, 10_000) for name in names]
    groups: dict[str, set[str]] = {}
    for name in full:
        groups.setdefault(short(name, most), set()).add(name)
    found = []
    for name in full:
        rivals = groups[short(name, most)]
        start = _common_start(rivals) if len(rivals) > 1 else 0
        found.append("…" + short(name[start:], most) if start else short(name, most))
    return found


def _common_start(names: set[str]) -> int:
    """How many characters all names begin with in common."""
    return next((i for i, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)


def plain(*texts: Text) -> None:
    """Show names as they are: a dollar sign in one must not start mathematics."""
    for text in texts:
        text.set_parse_math(False)


def name_rows(ax: Axes, places: ArrayLike, names: list[str], **style: Any) -> None:
    """Names down the left side."""
    ax.set_yticks(places, names, **style)
    plain(*ax.get_yticklabels())


def number(value: float) -> str:
    """A number as labels show it: three digits, a true minus sign.

    >>> number(-0.12345), number(12345.0), number(0.0)
    ('−0.123', '12,345', '0')
    """
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")
