"""The pages that this program writes: offline HTML in one frame and style.

What a page shows may come from a model or a user's file: the templates escape it, and the frame
forbids itself scripts and outside resources.
"""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

NOT_MEASURED = "not measured"


def page_template(name: str) -> Template:
    """The template of a page, by its file name in templates/."""
    environment = Environment(
        loader=PackageLoader("sparring.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(percent=percent, fixed=fixed)
    return environment.get_template(name)


def percent(share: float | None) -> str:
    """A share as a percentage with one digit."""
    return NOT_MEASURED if share is None else f"{100 * share:.1f} %"


def fixed(value: float | None) -> str:
    """A number with two digits."""
    return NOT_MEASURED if value is None else f"{value:.2f}"
