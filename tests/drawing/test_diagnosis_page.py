import re
from pathlib import Path

import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.diagnosis.finding import Diagnosis, Finding, Measured
from attribute_planner.drawing.diagnosis_page import diagnosis_page, write_diagnosis_page
from attribute_planner.planning.plan import Planner
from tests.probes import partial_goal, table_of

SPACE = AttributeSpace((Attribute("<b>door</b>", ('"open"', "clo&sed")),))
TABLE = table_of(SPACE, [((0,), (1,), 0.25), ((1,), (0,), 0.9)])
PLANS = [Planner(TABLE).plan(np.array([0], np.int32), partial_goal([1]))]
FOUND = Diagnosis(
    [Finding("weak-edge", "<script>alert(1)</script>", 0.5)], [Measured("<i>task</i>", 20, 5, 0.25)], PLANS
)


def test_the_page_is_one_file_with_escaped_names():
    page = diagnosis_page(FOUND, TABLE, "<run>")
    assert "<script" not in page and "<b>door" not in page and "<i>task" not in page and "<run>" not in page
    assert "&lt;script&gt;" in page and "&lt;b&gt;door" in page
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page) and "http" not in page
    assert "25 % (250 of 1,000)" in page and "5 of 20 reached" in page


def test_a_diagnosis_without_findings_is_a_page_too(tmp_path: Path):
    write_diagnosis_page(tmp_path / "new" / "page.html", Diagnosis([]), TABLE, "run")
    assert "No cause of failures was found." in (tmp_path / "new" / "page.html").read_text()
