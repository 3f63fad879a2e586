"""`attribute-planner envs`."""

from typing import Any

from attribute_planner.command_line.printing import console, print_json, print_table


def envs(json: bool = False) -> int:
    """List the built-in environments with their attributes, actions and tasks.

    Args:
        json: Print JSON instead of tables.
    """
    from attribute_planner.environments.registry import ENVIRONMENTS, make

    described = [_describe(make(name)) for name in ENVIRONMENTS]
    if json:
        print_json(described)
        return 0
    for each in described:
        console.print(f"[bold]{each['name']}[/bold]  {each['summary']}")
        rows = [("attribute " + a["name"], f"{a['kind']}: {_shortened(a['values'])}") for a in each["attributes"]]
        rows += [("actions", each["actions"])]
        rows += [(f"task {t['name']}", f"{t['description']} (at most {t['max_steps']} steps)") for t in each["tasks"]]
        print_table(("", ""), rows)
    return 0


def _describe(env: Any) -> dict[str, Any]:
    return {
        "name": env.name,
        "summary": (type(env).__doc__ or "").strip().splitlines()[0],
        "attributes": [
            {"name": a.name, "kind": a.kind, "values": [str(value) for value in a.values]} for a in env.attributes
        ],
        "actions": _describe_actions(env.actions),
        "units": env.num_units,
        "tasks": [{"name": t.name, "description": t.description, "max_steps": t.max_steps} for t in env.tasks.values()],
    }


def _describe_actions(actions: Any) -> str:
    from attribute_planner.environments.spaces import Box, Discrete

    if isinstance(actions, Discrete):
        return _shortened(actions.names)
    if isinstance(actions, Box):
        return f"{actions.dimensions} numbers between {actions.low} and {actions.high}"
    return f"{_describe_actions(actions.choice)}; with {_describe_actions(actions.point)}"


def _shortened(names: Any) -> str:
    return ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:4])} … {names[-1]} ({len(names)})"
