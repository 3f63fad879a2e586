"""How an agent was trained: its settings in a few words, and the versions and hardware that config.json records."""

from collections.abc import Mapping
from typing import Any

from attribute_planner.configuration import TrainConfig
from attribute_planner.storage.description import Description


def origin_of(description: Description, provenance: Mapping[str, Any]) -> list[list[str]]:
    """Pairs of a name and what is known; what is not recorded is left out."""
    known = {
        "environment": description.name,
        "seed": str(description.seed),
        **phases_of(description.config),
        "version": _words(provenance, "{version}", "commit {commit}"),
        "packages": _words(provenance, "Python {python}", "JAX {jax}"),
        "hardware": _words(provenance, "{device}", "{machine}", "{cores} cores"),
    }
    return [[name, words] for name, words in known.items() if words]


def phases_of(config: TrainConfig) -> dict[str, str]:
    """What each phase of training was asked to do."""
    labels = f"{config.detect.num_labels:,} labelled states" if config.detect.learn else ""
    model = f"{config.forward_model.fit.updates:,} updates" if config.forward_model.learn else ""
    return {
        "detect": labels,
        "explore": f"{config.explore.steps:,} steps, {config.explore.policy}",
        "forward model": model,
        "practise": f"{config.practise.steps:,} steps, {config.practise.method}",
    }


def _words(provenance: Mapping[str, Any], *parts: str) -> str:
    """The parts whose entries are recorded."""
    recorded = {name: str(value) for name, value in provenance.items() if value not in (None, "")}
    named = [part for part in parts if part[part.index("{") + 1 : part.index("}")] in recorded]
    return ", ".join(part.format(**recorded) for part in named)
