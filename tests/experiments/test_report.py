"""The report shows the records, and the committed documents are those that the committed records generate."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attribute_planner.errors import UnknownNameError
from attribute_planner.evaluation.statistics import Interval
from attribute_planner.experiments.aggregates import (
    ALIKE,
    HIGHER,
    LOWER,
    Aggregate,
    aggregate_of,
    compared,
    shown_aggregate,
)
from attribute_planner.experiments.doc_tables import SECTION, filled
from attribute_planner.experiments.dot_plots import Dot, dot_plot
from attribute_planner.experiments.marks import marked
from attribute_planner.experiments.outdated import newest
from attribute_planner.experiments.plots import PLOTS, Line, Plot, digest_in, draw_plot, sample_size_plot
from attribute_planner.experiments.records import Record, read_records, write_record
from attribute_planner.experiments.report import (
    dot_plots,
    markdown_table,
    quoted,
    records_at,
    report_text,
    summary_text,
    write_report,
)
from attribute_planner.experiments.run_one import is_current
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import OURS, PUBLISHED, Execution, Measurement, Run, planner_config
from attribute_planner.experiments.tables.layout import (
    COUNT,
    ERROR,
    PERCENT,
    Column,
    Entry,
    Quote,
    Row,
    Source,
    Table,
    entry,
    scalar,
)
from attribute_planner.storage.settings import settings_to_json
from tests.experiments.test_records import RECORD, result_of

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "reproduction" / "records"
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "results.md"]


def record_of(run_spec: str, seed: int, success: float, edges: float = 25, how: Execution = PUBLISHED) -> Record:
    result = result_of(Measurement("craft", how), success)
    return replace(
        RECORD, run_spec=run_spec, run=f"{run_spec}-{seed}", seed=seed, results=[result], scalars={"edges": edges}
    )


TABLE = Table(
    "probe",
    "A table",
    "nowhere",
    (Column("craft"), Column("edges", COUNT)),
    (
        Row("theirs", "tasks", (Entry(50.0), Entry())),
        Row("AP", "no tasks", (entry("good", "craft", PUBLISHED, 40.0), scalar("good", "edges", 30))),
        Row("ours", "no tasks", (entry("poor", "craft", PUBLISHED, against=40.0), scalar("poor", "edges"))),
    ),
)
TWO_SEEDS = [record_of("good", 0, 0.8, edges=24), record_of("good", 1, 0.9, edges=26)]


def test_a_number_is_a_mean_with_its_t_interval():
    number = aggregate_of(Source("good", Measurement("craft", PUBLISHED)), TWO_SEEDS, PERCENT)
    assert number is not None
    assert (number.mean, number.seeds) == (pytest.approx(85.0), 2)
    # The half width is t(0.975; 1) · s / √2 = 12.706 · 7.071 / 1.414 = 63.53; a success rate ends at 100 %.
    assert number.interval is not None and number.interval.high == 100.0
    assert number.interval.low == pytest.approx(85 - 63.53, abs=0.01)
    assert aggregate_of(Source("good", Measurement("craft", OURS)), TWO_SEEDS, PERCENT) is None


def test_one_seed_has_the_interval_of_its_tasks():
    number = aggregate_of(Source("good", Measurement("craft", PUBLISHED)), TWO_SEEDS[:1], PERCENT)
    assert shown_aggregate(number, PERCENT) == "80.0 [73.9, 85.0]"  # Wilson's, for 160 of 200


@pytest.mark.parametrize(
    ("number", "reference", "expected"),
    [
        (Aggregate(85.0, Interval(80.0, 90.0), 2, (84.0, 86.0)), 90.0, ALIKE),
        (Aggregate(85.0, Interval(80.0, 90.0), 2, (84.0, 86.0)), 79.9, HIGHER),
        (Aggregate(85.0, Interval(80.0, 90.0), 2, (84.0, 86.0)), 90.1, LOWER),
        (Aggregate(25.0, None, 1, (25.0, 25.0)), 25.0, ALIKE),
        (Aggregate(25.0, None, 1, (25.0, 25.0)), 18.6, HIGHER),
    ],
)
def test_numbers_are_compared_with_the_papers(number: Aggregate, reference: float, expected: str):
    assert compared(number, reference) == expected


def test_where_the_paper_has_a_bound_all_that_is_below_it_is_alike():
    error = Aggregate(0.02, Interval(0.01, 0.03), 2, (0.01, 0.03))
    assert [compared(error, bound, bound=True) for bound in (0.1, 0.03, 0.001)] == [ALIKE, ALIKE, HIGHER]
    assert compared(error, 0.1) == LOWER
    table = Table(
        "probe", "", "", (Column("wrong", ERROR),), (Row("AP", "", (scalar("good", "edges", 30, bound=True),)),)
    )
    assert marked(table, [record_of("good", 0, 0.8, edges=0.24)]).entries == [["< 30 → 24 ✓"]]
    assert marked(table, [record_of("good", 0, 0.8, edges=0.35)]).entries == [["< 30 → 35 ✗¹"]]


def test_seeds_that_differ_much_are_named():
    records = [record_of("good", seed, success) for seed, success in enumerate((0.1, 0.95, 0.99))]
    assert (
        "Seeds differ by 25 points or more: AP (no tasks) on craft (10.0 to 99.0)." in marked(TABLE, records).footnotes
    )
    assert not any("differ by" in sentence for sentence in marked(TABLE, TWO_SEEDS).footnotes)


@pytest.mark.parametrize("rates", [(0.02, 1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0), (0.001, 0.004, 0.002)])
def test_intervals_of_bounded_quantities_stay_within_their_bounds(rates: tuple[float, ...]):
    records = [record_of("good", seed, rate, edges=30 * rate) for seed, rate in enumerate(rates)]
    for source, kind, most in (
        (Source("good", Measurement("craft", PUBLISHED)), PERCENT, 100.0),
        (Source("good", "edges"), COUNT, float("inf")),
    ):
        number = aggregate_of(source, records, kind)
        assert number is not None and number.interval is not None
        assert 0 <= number.interval.low <= number.mean <= number.interval.high <= most


@pytest.mark.parametrize("rates", [(0.5, 0.5, 0.5), (0.4, 0.5, 0.6), (0.97, 0.99), (1.0, 1.0, 1.0), (0.3,)])
def test_a_number_is_alike_exactly_where_its_interval_contains_the_papers(rates: tuple[float, ...]):
    """One test decides, and the interval that is shown is its acceptance region: not the union of two intervals."""
    records = [record_of("good", seed, rate) for seed, rate in enumerate(rates)]
    number = aggregate_of(Source("good", Measurement("craft", PUBLISHED)), records, PERCENT)
    assert number is not None and number.interval is not None
    for reference in np.linspace(0, 100, 401):
        inside = number.interval.low <= reference <= number.interval.high
        assert (compared(number, float(reference)) == ALIKE) == inside


def test_the_standard_error_is_at_least_that_of_the_pooled_tasks():
    number = aggregate_of(
        Source("good", Measurement("craft", PUBLISHED)), [record_of("good", seed, 0.5) for seed in range(3)], PERCENT
    )
    assert number is not None and number.interval is not None
    # t(0.975; 2) · √(½ · ½ / 604), in %.
    assert number.interval.high - 50 == pytest.approx(4.3027 * 100 * (0.25 / 604) ** 0.5, rel=1e-4)


def test_equal_seeds_do_not_make_a_number_certain():
    """Three seeds of 100 % differ by nothing; yet 600 tasks do not exclude failures."""
    perfect = [record_of("good", seed, 1.0) for seed in range(3)]
    number = aggregate_of(Source("good", Measurement("craft", PUBLISHED)), perfect, PERCENT)
    assert number is not None
    assert shown_aggregate(number, PERCENT) == "100 [99.0, 100]"
    assert (compared(number, 99.8), compared(number, 98.0)) == (ALIKE, HIGHER)


def test_a_table_stands_beside_the_papers_numbers():
    assert markdown_table(TABLE, TWO_SEEDS).splitlines() == [
        "| | trained on | craft | edges | seeds |",
        "|---|---|---|---|---|",
        "| theirs | tasks | 50.0 → not measured yet | – | 0 |",
        "| AP | no tasks | 40.0 → 85.0 [21.5, 100] ✓ | 30 → 25 [12.3, 37.7] ✓ | 2 |",
        "| ours | no tasks | not measured yet | not measured yet | 0 |",
    ]


def test_numbers_below_the_papers_have_a_footnote_with_the_reason():
    records = [record_of("good", 0, 0.8, edges=24), record_of("poor", 0, 0.1)]
    table = replace(TABLE, rows=(*TABLE.rows[:2], replace(TABLE.rows[2], below="It is too small.")))
    found = marked(table, records)
    assert found.entries[1:] == [["40.0 → 80.0 [73.9, 85.0] ✓", "30 → 24 ✗¹"], ["10.0 [6.6, 14.9] ✗²", "25"]]
    assert found.footnotes == [
        "✗¹ The cause is not measured yet.",
        "✗² It is too small.",
        "Not measured yet: theirs (tasks).",
    ]


def test_a_quote_has_the_means_of_its_numbers():
    numbers = (entry("good", "craft", PUBLISHED), scalar("good", "edges"))
    table = replace(TABLE, quote=Quote("It solves {} % with {} edges.", numbers))
    assert quoted(table, TWO_SEEDS) == ["It solves 85.0 % with 25 edges."]
    assert quoted(table, []) == []


def test_the_plot_of_a_table_shows_both_numbers_and_the_interval():
    plot = dot_plot(TABLE, TWO_SEEDS)
    assert plot is not None
    (panel,) = plot.panels
    assert panel.title == "craft"
    assert panel.dots[0] == Dot("theirs, tasks", 50.0, None, None)
    assert panel.dots[1] == Dot("AP", 40.0, 85.0, (21.47, 100.0))
    assert dot_plot(TABLE, []) is None


def test_the_summary_shows_what_is_measured_and_names_the_rest():
    config = {"config": settings_to_json(planner_config(Run(RUN_SPECS["crafting-default"], 0, "paper")))}
    records = [record_of("crafting-default", seed, 1.0, how=OURS) for seed in range(2)]
    lines = summary_text([replace(each, configuration=config, scale="paper") for each in records]).splitlines()
    assert lines[2] == "| crafting | 99.8 | not measured yet | 100 [95.6, 100] (2 seeds) |"
    assert len(lines) == 5
    assert lines[4].startswith("Not measured yet: switches, multi-step; blocks")
    assert "(2 seeds)† |" in summary_text(records)


def test_marked_tables_of_a_document_are_regenerated():
    page = "Before.\n<!-- results: summary -->\nold\n<!-- results: summary -->\nAfter.\n"
    once = filled(page, [])
    assert once.startswith("Before.\n<!-- results: summary -->\n| |") and once.endswith("-->\nAfter.\n")
    assert filled(once, []) == once
    with pytest.raises(UnknownNameError, match="no table 'weather'"):
        filled(page.replace("summary", "weather"), [])


def test_a_plot_is_drawn_alike_each_time_and_tells_what_it_shows(tmp_path: Path):
    plot = Plot("probe", "x", "y", (Line("a", "left", ((1.0, 2.0), (2.0, 3.0))), Line("b", "right", ((1.0, 1.0),))))
    for name in ("first.svg", "second.svg"):
        draw_plot(tmp_path / name, plot)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
    assert digest_in(tmp_path / "first.svg") == plot.digest
    assert plot.digest != replace(plot, x="z").digest


def test_a_report_is_written_with_its_pictures(tmp_path: Path):
    curve = {"edges": [[100.0, 3.0], [200.0, 25.0]]}
    write_record(tmp_path / "records", replace(RECORD, run_spec="crafting-default", curves=curve))
    write_report(tmp_path / "pages" / "small.md", tmp_path / "records", "small")
    text = (tmp_path / "pages" / "small.md").read_text(encoding="utf-8")
    assert "This is the small scale" in text
    assert "](../pictures/small/edges.svg)" in text
    assert [path.name for path in (tmp_path / "pictures" / "small").iterdir()] == ["edges.svg"]


@pytest.mark.parametrize(("scale", "examples"), [("paper", 10_000.0), ("small", 1_000.0)])
def test_the_number_of_examples_is_that_of_the_scale(scale: str, examples: float):
    result = result_of(Measurement("multi-step", OURS), 0.5)
    record = replace(RECORD, run_spec="blocks-default-10k", scale=scale, results=[result])
    lines = {line.label: line for line in sample_size_plot([record]).lines}
    assert [x for x, _ in lines["ours: AP, all our changes"].points] == [examples]
    assert lines["paper: AP"].points[0][0] == 10_000.0
    assert ("rows have 1,000" in report_text([record], scale, {})) == (scale == "small")


def test_a_record_of_other_settings_is_marked_until_there_is_a_newer_one():
    run = Run(RUN_SPECS["crafting-default"], 0, "paper")
    config = settings_to_json(planner_config(run))
    result = result_of(Measurement("craft", OURS), 0.5)
    record = replace(
        RECORD,
        run=run.name,
        run_spec="crafting-default",
        scale="paper",
        configuration={"config": config},
        results=[result],
    )
    assert is_current(record, run)
    assert "†" not in report_text([record], "paper", {})
    inverse = config["practise"]["inverse"] | {"symmetric": not config["practise"]["inverse"]["symmetric"]}
    unused = config | {"practise": config["practise"] | {"inverse": inverse}}
    assert is_current(replace(record, configuration={"config": unused}), run)
    changed = config | {"explore": config["explore"] | {"steps": 7}}
    older = config | {"practise": {"haste": 1}}
    for other in (changed, older):
        outdated = replace(record, configuration={"config": other}, run="paper-crafting-default-1", seed=1)
        assert "✓†" in report_text([outdated], "paper", {}) or "✗¹†" in report_text([outdated], "paper", {})
        assert "Trained with other settings" in report_text([outdated], "paper", {})
        both = newest([record, outdated])
        assert [len(each.results) for each in both] == [1, 0]
        assert "†" not in report_text(both, "paper", {})


def test_the_report_names_the_version_of_the_records():
    records = [replace(RECORD, trained=RECORD.trained | {"version": "0.1"}, evaluated={"version": "0.1"})] * 2
    assert "trained and measured with version 0.1 (2)" in report_text(records, "paper", {})


def test_the_committed_report_is_what_the_committed_records_make(tmp_path: Path):
    for record in read_records(RECORDS):
        write_record(tmp_path / "reproduction" / "records", record)
    write_report(tmp_path / "REPRODUCTION.md", tmp_path / "reproduction" / "records", "paper")
    assert (tmp_path / "REPRODUCTION.md").read_text(encoding="utf-8") == (ROOT / "REPRODUCTION.md").read_text(
        encoding="utf-8"
    ), "run `attribute-planner reproduce` on the records again"


def test_the_committed_pictures_show_the_committed_records():
    records = records_at(RECORDS, "paper")
    plots = [plot for make in PLOTS if (plot := make(records)).lines]
    folder = RECORDS.parent / "pictures" / "paper"
    expected = {plot.name: plot.digest for plot in plots}
    expected |= {f"{plot.name}-table": plot.digest for plot in dot_plots(records)}
    assert {path.stem: digest_in(path) for path in folder.glob("*.svg")} == expected


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_the_committed_documents_show_the_committed_records(page: Path):
    text = page.read_text(encoding="utf-8")
    assert SECTION.search(text) is not None
    assert filled(text, records_at(RECORDS, "paper")) == text


def test_records_are_written_as_they_were_read(tmp_path: Path):
    for path in sorted(RECORDS.glob("*.json"))[:5]:
        (record,) = [each for each in read_records(RECORDS) if each.run == path.stem]
        write_record(tmp_path, record)
        assert (tmp_path / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
