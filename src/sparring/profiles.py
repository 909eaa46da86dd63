"""Scoring profiles: whose verdict a score is."""

from __future__ import annotations

from enum import StrEnum


class Profile(StrEnum):
    """Whose verdict: the reference implementation's, or what the instruction says."""

    OFFICIAL = "official"
    FIXED = "fixed"
