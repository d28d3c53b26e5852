"""The variables of a model by name."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from linkwork._util.named import Named

if TYPE_CHECKING:
    from linkwork.model.named_model import NamedModel


class NamedVariables(Named[str]):
    """An object that has all variables of its attribute `model`."""

    if TYPE_CHECKING:

        @property
        def model(self) -> NamedModel:
            """Whose variables they are."""

    @property
    def names(self) -> list[str]:
        """Names of the inputs, coordinates, speeds and outputs; parameters are found by name as well."""
        return self.model.listed_names

    @property
    def _known(self) -> Collection[str]:
        return self.model.columns.keys()
