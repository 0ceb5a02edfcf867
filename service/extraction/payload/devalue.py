"""Nuxt 3: `__NUXT_DATA__`, one array in which every whole number inside an object is another's place (devalue)."""

from __future__ import annotations

from typing import Any

_WRAPPERS = frozenset(
    ("Reactive", "ShallowReactive", "Ref", "ShallowRef", "EmptyRef", "EmptyShallowRef", "Date", "NuxtError", "Island")
)


def revive(data: Any) -> Any:
    """The value that such an array stands for, shared and cyclic where its references are; None if it is none."""
    if not isinstance(data, list) or not data or not isinstance(data[0], (list, dict)):
        return None
    values: list[Any] = [{} if isinstance(item, dict) else [] if isinstance(item, list) else item for item in data]

    def at(place: Any) -> Any:
        for _ in range(8):  # wrappers in wrappers
            if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(data):
                return place if isinstance(place, str) else None
            item = data[place]
            if isinstance(item, list) and item and isinstance(item[0], str):
                if item[0] in _WRAPPERS and len(item) > 1:
                    place = item[1]
                    continue
                return values[place] if item[0] in ("Set", "Map") else None
            return values[place]
        return None

    for item, value in zip(data, values, strict=True):
        if isinstance(item, dict):
            value.update((key, at(place)) for key, place in item.items())
        elif isinstance(item, list):
            value.extend(at(place) for place in (item[1:] if item and isinstance(item[0], str) else item))
    return at(0)


def is_devalue(data: Any) -> bool:
    """Whether an array has the form: its first item a reference or an object of references."""
    if not isinstance(data, list) or len(data) < 2:
        return False
    first = data[0]
    places = first.values() if isinstance(first, dict) else first[1:] if isinstance(first, list) else ()
    return bool(places) and all(isinstance(place, int) and place < len(data) for place in places)
