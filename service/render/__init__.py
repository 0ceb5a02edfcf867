"""Tier two: pages rendered in Chromium, which can reach nothing but our proxy."""

from service.render.errors import NotRendered
from service.render.tier import RenderTier, Snapshot, State

__all__ = ["NotRendered", "RenderTier", "Snapshot", "State"]
