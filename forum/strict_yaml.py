"""YAML without surprises: safe, and a key that stands twice is an error, where PyYAML lets the last one win."""

from __future__ import annotations

from typing import Any

import yaml

#: libyaml's reads a long file ten times as fast; not every build of PyYAML has it.
_SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE):  # type: ignore[misc, valid-type]
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice; keep one of them", key.start_mark
                )
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def load(content: str | bytes) -> Any:
    """The one document of `content`. Raises yaml.YAMLError, whose mark tells the line."""
    return yaml.load(content, _Loader)  # noqa: S506 - a safe loader either way
