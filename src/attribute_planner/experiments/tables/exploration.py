"""Appendix A and Section 4.3: transitions found by exploration, for each exploration policy."""

from attribute_planner.experiments.tables.layout import COUNT, Column, Entry, Row, Table, scalar

NO_MINING = (
    "A move cancels a worker's mining trip, and four of its actions are moves: in 16 million steps of random actions "
    "hardly anything is built, and 5 transitions are found."
)
"""Why random exploration finds so little in StarCraft."""

TABLE = Table(
    "exploration",
    "Transitions found by exploration",
    "Appendix A and Section 4.3",
    (
        Column("switches (1,024)", COUNT),
        Column("crafting (25)", COUNT),
        Column("StarCraft, small", COUNT),
        Column("StarCraft, large", COUNT),
    ),
    (
        Row(
            "random",
            "no tasks",
            (
                scalar("switches-random-explorer", "edges"),
                scalar("crafting-random-explorer", "edges", 18.6),
                scalar("starcraft-small-random-explorer", "edges", 2_047),
                Entry(),
            ),
            below=NO_MINING,
        ),
        Row(
            "bonus N^-0.5",
            "no tasks",
            (
                scalar("switches-count-bonus", "edges"),
                scalar("crafting-count-bonus", "edges"),
                scalar("starcraft-small-paper", "edges", 120_000),
                scalar("starcraft-large-paper", "edges", 420_000),
            ),
        ),
        Row(
            "bonus (N/t + 0.001)^-0.5",
            "no tasks",
            (
                scalar("switches-default", "edges"),
                scalar("crafting-default", "edges", 25),
                Entry(),
                Entry(),
            ),
        ),
        Row(
            "graph exploration",
            "no tasks",
            (
                scalar("switches-graph-explorer", "edges"),
                scalar("crafting-graph-explorer", "edges"),
                scalar("starcraft-small-graph-explorer", "edges"),
                Entry(),
            ),
        ),
        Row(
            "AP, all our changes",
            "no tasks",
            (
                Entry(),
                Entry(),
                scalar("starcraft-small-default", "edges"),
                scalar("starcraft-large-default", "edges"),
            ),
        ),
    ),
    (
        "All exploration policies of an environment have the same number of steps: 400,000 on switches, a million on "
        "crafting, 16 million in StarCraft.",
        "StarCraft is a simulator here.",
    ),
)
