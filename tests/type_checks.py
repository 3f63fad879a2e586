"""Checks of types and shapes of every call into the package, in the test session.

jaxtyping's import hook decorates each function and class of the package with `jaxtyping.jaxtyped`. Its decorator binds
the arguments of each call and checks them twice, which takes a quarter of the time of a training on the host. `checked`
takes its place: beartype checks arguments and result once, in a scope of axis names of its own.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, Self, get_args, get_type_hints

import beartype
import jaxtyping

CONF = beartype.BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError)
"""An `int` is accepted as a `float`; a wrong shape raises `TypeCheckError`, as with jaxtyping's own decorator."""

_jaxtyped = jaxtyping.jaxtyped
_ArrayType: Any = type(jaxtyping.Float[jaxtyping.Array, ""])


def install(packages: list[str]) -> None:
    """Check all calls into these packages, which must not be imported yet."""
    jaxtyping.jaxtyped = _checked_or_class  # pyright: ignore[reportAttributeAccessIssue]
    jaxtyping.install_import_hook(packages, None)


def _checked_or_class(*, typechecker: Any) -> Callable[[Any], Any]:
    """What the import hook calls for each function and class."""
    del typechecker
    return lambda decorated: _with_checked_init(decorated) if inspect.isclass(decorated) else checked(decorated)


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose arguments and result are checked at each call."""
    hints = {name: _resolved(hint, function.__globals__) for name, hint in function.__annotations__.items()}
    if any("{" in repr(hint) for hint in hints.values()):
        # An axis whose size is an expression of the arguments, which jaxtyping must know by name.
        return _jaxtyped(function, typechecker=beartype.beartype(conf=CONF))
    function.__annotations__ = hints
    checks = beartype.beartype(conf=CONF)(function)
    if not any(map(_has_axes, hints.values())):
        return _marked(checks)

    @functools.wraps(function)
    def scoped(*args: Any, **kwargs: Any) -> Any:
        with _jaxtyped("context"):
            return checks(*args, **kwargs)

    return _marked(scoped)


def _has_axes(hint: Any) -> bool:
    """Whether a type is an array with named axes, or contains some."""
    return isinstance(hint, _ArrayType) or any(map(_has_axes, get_args(hint)))


def _marked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, marked as checked."""
    function.__dict__["__checked__"] = True
    return function


def _with_checked_init(cls: type) -> type:
    """A dataclass, whose constructor is checked; other classes as they are."""
    unchecked = getattr(cls, "__no_type_check__", False) or not dataclasses.is_dataclass(cls)
    if not unchecked and not getattr(cls.__init__, "__checked__", False):
        cls.__init__ = checked(cls.__init__)  # pyright: ignore[reportAttributeAccessIssue]
    return cls


def _resolved(hint: Any, namespace: dict[str, Any]) -> Any:
    """The type that a hint names; `Any` if it is not defined yet, or is the class that is being defined."""
    if hint is Self:
        return Any
    holder = lambda: None  # noqa: E731
    holder.__annotations__ = {"it": hint}
    try:
        return get_type_hints(holder, namespace, include_extras=True)["it"]
    except (NameError, TypeError, AttributeError, SyntaxError):
        return Any
