"""`Aliasing`: a change whose success depends on the observation, as text and as data."""

from dataclasses import dataclass, replace
from typing import Any

from attribute_planner.environments.splits import Split


@dataclass(frozen=True)
class Aliasing:
    """A change of attributes that works where a split of the observation holds, and mostly fails where it does not.

    change: the change as text: `room from left to right`.
    split: holds where attempts succeed.
    condition: the split as text.
    attempts, successes: held-out counts where the split does not hold, and where it does.
    auc, interval: how well the split separates held-out successes from failures, 0.5 is chance; its 95 % interval.
    failures_explained: the number of failures that would not happen at the success rate of the other side.
    share_explained: the same as a share of the failures of this change.
    is_attribute: whether it looks like a missing attribute; if not, the change is harder to make from there.
    also: other changes that depend on the same split.
    pooled: whether the counts are those of all these changes together.
    """

    change: str
    split: Split
    condition: str
    attempts: tuple[int, int]
    successes: tuple[int, int]
    auc: float
    interval: tuple[float, float]
    failures_explained: float
    share_explained: float
    is_attribute: bool
    also: tuple[str, ...] = ()
    pooled: bool = False

    @property
    def message(self) -> str:
        """The finding in a sentence or two."""
        (elsewhere, here), (fewer, more) = self.attempts, self.successes
        changes = " or ".join((self.change, *self.also)) if self.pooled else self.change
        evidence = (
            f"Changing {changes} succeeds in {more / here:.0%} of {here} attempts that begin where "
            f"{self.condition}, and in {fewer / elsewhere:.0%} of {elsewhere} elsewhere"
        ).replace("%", " %")
        also = f" The same holds for changing {'; '.join(self.also)}." if self.also and not self.pooled else ""
        return f"{evidence}: {self._advice}{also}"

    @property
    def _advice(self) -> str:
        if self.is_attribute:
            return f"an attribute seems to be missing; one for whether {self.condition} would distinguish them."
        return "the change is harder from there: it needs more training, longer attempts, or finer attributes."

    def with_change(self, change: str) -> "Aliasing":
        """The same finding, which explains another change too."""
        return replace(self, also=(*self.also, change))

    def to_json(self) -> dict[str, Any]:
        """The finding as data for a JSON file."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "split": self.split.to_json(), "message": self.message}
