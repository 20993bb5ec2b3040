"""Good tables of a small study in every format, to be broken by the tests."""

import csv
import io
import json
from dataclasses import dataclass, replace

import numpy as np

from stimuli.benchmark import Manifest, write_benchmark
from tests.analysis.simulate import make_trials

N_SCENES = 4


def _name(row):
    """Trial ids as the published table joins them: image, annotation image, cell."""
    same = "same" if row["same_object"] else "different"
    scene = row["scene_id"][1:]
    return f"{scene}_10{scene}_{same}_{row['distance_condition']}"


TRIALS = make_trials(N_SCENES)
TRIALS["trial_id"] = TRIALS.apply(_name, axis=1)
TRUTHS = dict(zip(TRIALS["trial_id"], TRIALS["same_object"], strict=True))
TIMEOUT_S = 3.0
LAB_MAPPING = """
unit = "ms"
timeout_s = 3.0
[columns]
participant_id = "vp"
session = "visit"
trial_id = "item"
is_practice = "phase"
rt = "latency"
response = "answer"
is_correct = "hit"
position = "nr"
[codes.response]
same = ["1"]
different = ["2"]
[codes.rt]
timeout = ["none"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One presentation, as it was."""

    person: str
    trial_id: str
    outcome: str
    response: str
    rt_ms: int | None
    position: int

    @property
    def truth(self):
        return "same" if TRUTHS[self.trial_id] else "different"

    @property
    def is_correct(self):
        return self.outcome == "correct"


def make_study(person="07", seed=1):
    """Return the answers of one person: right and wrong ones, and a time-out on the last but one."""
    rng = np.random.default_rng([seed, *person.encode()])
    order = rng.permutation(TRIALS["trial_id"].to_numpy())
    answers = []
    for k, trial_id in enumerate(order, start=1):
        truth = "same" if TRUTHS[trial_id] else "different"
        is_right = k % 5 != 0
        other = {"same": "different", "different": "same"}[truth]
        answers.append(
            Answer(
                person=person,
                trial_id=str(trial_id),
                outcome="correct" if is_right else "wrong",
                response=truth if is_right else other,
                rt_ms=int(rng.integers(420, 1900)),
                position=k,
            )
        )
    answers[-2] = replace(answers[-2], outcome="timeout", response="", rt_ms=None)
    return answers


def seconds(answer):
    return "" if answer.rt_ms is None else f"{answer.rt_ms / 1000:.3f}"


def write(header, rows, *, delimiter=",", decimal=".", end="\n"):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(header)
    for row in rows:
        writer.writerow([str(c).replace(".", decimal) if is_rt(c) else c for c in row])
    return text.getvalue()


def is_rt(cell):
    """Whether a cell is a decimal number, which is written with the file's decimal mark."""
    whole, _, part = str(cell).partition(".")
    return whole.isdigit() and part.isdigit()


OWN_HEADER = [
    "participant_id",
    "session",
    "trial_id",
    "is_practice",
    "outcome",
    "response",
    "rt_s",
    "is_simulated",
    "position",
    "key",
]


def own(answers, **style):
    """Our own table."""
    rows = [
        [
            *(a.person, "1", a.trial_id, False, a.outcome, a.response, seconds(a), False),
            *(a.position, {"same": "f", "different": "j", "": ""}[a.response]),
        ]
        for a in answers
    ]
    return write(OWN_HEADER, rows, **style)


def psychopy(answers, **style):
    """PsychoPy's wide CSV: a trailing delimiter, instructions on the first row."""
    header = [
        *("trial_id", "same_key", "trials.thisRepN", "trials.thisTrialN", "trials.thisN"),
        *("instr.keys", "instr.rt", "key_resp.keys", "key_resp.corr", "key_resp.rt"),
        *("participant", "session", "date", "expName", "psychopyVersion", "frameRate", ""),
    ]
    date = "2026-05-04_10h12.33.123"
    ids = [answers[0].person, "1", date, "dots", "2026.2.5", "59.95", ""]
    rows = [["", "", "", "", "", "space", "4.211", "", "", "", *ids]]
    for k, a in enumerate(answers):
        key = {"same": "f", "different": "j", "": "None"}[a.response]
        row = [a.trial_id, "f", 0, k, k, "", "", key, int(a.is_correct), seconds(a)]
        rows.append([*row, *ids])
    return write(header, rows, **style)


def jspsych_trials(answers):
    """jsPsych's data: instructions and fixations between the trials."""
    who = {"subject": answers[0].person, "session": "1"}
    first = {"rt": 5321, "response": " ", "trial_type": "instructions", "trial_index": 0}
    trials = [{**first, "time_elapsed": 5400, **who}]
    for a in answers:
        index = len(trials)
        fixation = {"rt": None, "response": None, "trial_type": "html-keyboard-response"}
        trials.append(
            {
                **fixation,
                "trial_index": index,
                "time_elapsed": 3000 * index,
                "task": "fixation",
                **who,
            }
        )
        trials.append(
            {
                "rt": a.rt_ms,
                "response": {"same": "f", "different": "j", "": None}[a.response],
                "trial_type": "image-keyboard-response",
                "trial_index": index + 1,
                "time_elapsed": 3000 * index + 2000,
                "task": "test",
                **who,
                "data": {"trial_id": a.trial_id, "same_key": "f"},
                "correct": a.is_correct,
            }
        )
    return trials


def jspsych_json(answers):
    lines = [json.dumps(trial) for trial in jspsych_trials(answers)]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def jspsych_csv(answers, **style):
    header = [
        *("rt", "response", "trial_type", "trial_index", "time_elapsed", "task", "subject"),
        *("session", "trial_id", "same_key", "correct"),
    ]
    rows = []
    for trial in jspsych_trials(answers):
        flat = {**trial, **trial.get("data", {})}
        texts = {None: "null", True: "true", False: "false"}
        rows.append(
            [
                texts.get(flat.get(n, ""), flat.get(n, "")) if n != "trial_index" else flat[n]
                for n in header
            ]
        )
    return write(header, rows, **style)


def eyelink(answers, **style):
    """The columns of the published raw table; trial ids are joined from image and cell."""
    header = [
        *("RECORDING_SESSION_LABEL", "Trial_Index_", "subj_id", "trial_type", "image_id", "img_id"),
        *("same_diff", "close_far", "same_button", "REACTION_TIME", "RT_EVENT_BUTTON_ID"),
    ]
    rows = []
    for a in answers:
        image, cell = eyelink_parts(a.trial_id)
        button = {"same": 6, "different": 7, "": "."}[a.response]
        rt = "." if a.rt_ms is None else a.rt_ms
        same = {"same": "same", "different": "diff"}[a.truth]
        rows.append([a.person, a.position, 1, "exp", *image, same, cell, 6, rt, button])
    return write(header, rows, **style)


def eyelink_parts(trial_id):
    image, annotation, _, cell = trial_id.split("_")
    return (image, annotation), cell


def lab(answers, **style):
    """A lab's own table, read with LAB_MAPPING."""
    header = ["vp", "visit", "nr", "item", "phase", "answer", "hit", "latency"]
    rows = [
        [
            *(a.person, "1", a.position, a.trial_id, "test"),
            {"same": 1, "different": 2, "": ""}[a.response],
            *(int(a.is_correct) if a.response else "", "none" if a.rt_ms is None else a.rt_ms),
        ]
        for a in answers
    ]
    return write(header, rows, **style)


def make_bench(folder, *, is_simulated=False):
    """A benchmark with the study's trials."""
    manifest = Manifest(
        name="tiny", version="1", source="test", licence="none", is_simulated=is_simulated
    )
    return write_benchmark(folder, manifest=manifest, trials=TRIALS)
