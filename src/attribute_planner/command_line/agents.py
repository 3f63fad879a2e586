"""`attribute-planner agents`."""

from attribute_planner.command_line.printing import console, print_json, print_table


def agents(json: bool = False) -> int:
    """List the trained agents that ship with the package.

    Every command that takes a run directory also takes one of these names.

    Args:
        json: Print JSON instead of a table.
    """
    from attribute_planner.storage.agents import shipped_agents
    from attribute_planner.storage.run_directory import RunDirectory

    rows = []
    for name, path in shipped_agents().items():
        described = RunDirectory(path).description
        rows.append(
            {"name": name, "environment": described.name, "seed": described.seed, "steps": described.config.steps}
        )
    if json:
        print_json(rows)
    elif rows:
        shown = [(row["name"], row["environment"], row["seed"], f"{row['steps']:,}") for row in rows]
        print_table(("name", "environment", "seed", "training steps"), shown)
    else:
        console.print("No agents ship with this version.")
    return 0
