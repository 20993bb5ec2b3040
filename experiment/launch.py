"""From a request to a session: plan, lock, earlier runs, apparatus, checks, and then the task."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from experiment.announce import AnnouncingKeys
from experiment.checks import CheckReport, check_disk, describe_report, make_report
from experiment.config import SessionConfig
from experiment.instructions import read_instructions
from experiment.keys import KeyDevice, Keys, SimulatedPerson
from experiment.observers import DESIGN, ObserverDesign, draw_observer, draw_true_difficulty
from experiment.plan import Identity, SessionPlan, clean_label, plan_session
from experiment.recorder import Recorder
from experiment.runs import (
    Existing,
    RunFiles,
    assign_number,
    find_current_run,
    locking,
    name_run,
    next_run,
    supersede,
)
from experiment.screen import Display
from experiment.session import Script, run_session
from experiment.shelf import Shelf
from experiment.sidecar import describe_machine, describe_run
from experiment.stage import VirtualStage
from experiment.task import Lab
from stimuli.benchmark import MANIFEST, Benchmark, open_benchmark
from stimuli.errors import InputError
from stimuli.seeds import spawn_rng
from stimuli.table_io import write_json

ORDER_NOTE = "drawn from streams named after participant and session (experiment/plan.py)"
Question = Callable[[str], Literal["resume", "restart", "refuse"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asked for.

    Attributes
    ----------
    display
        None runs without a window, which only a simulated person can do.
    existing
        What to do with an earlier run of this session.
    despite
        Why the session runs although a check failed.
    practice
        Another benchmark to practise on.
    is_simulated
        A drift-diffusion observer answers, drawn from `observer` with the stream of `seed`.
    tracker
        "mouse" or "eyelink".
    events
        A file that is told what is shown as it is shown.
    """

    benchmark: Path
    participant: str
    session: str
    config: SessionConfig
    display: Display | None
    number: int | None = None
    language: str = "en"
    existing: Existing = "ask"
    despite: str | None = None
    practice: Path | None = None
    is_simulated: bool = False
    observer: ObserverDesign = DESIGN
    seed: int = 0
    keyboard: str = "ptb"
    tracker: str | None = None
    n_check_flips: int = 120
    events: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request with everything looked up that doesn't need a screen."""

    request: Request
    benchmark: Benchmark
    practice: Benchmark
    plan: SessionPlan


def prepare(request: Request, *, benchmark: Benchmark | None = None) -> Prepared:
    """Return the request's benchmark and plan.

    Parameters
    ----------
    request
        What is asked for.
    benchmark
        The request's benchmark, where it is open already.

    Raises
    ------
    InputError
        Anything that is wrong with the benchmark, the ids, or the configuration.
    """
    benchmark = benchmark or open_benchmark(request.benchmark)
    practice = open_benchmark(request.practice) if request.practice else benchmark
    if request.display is None and not request.is_simulated:
        raise InputError("a person needs a window: name a display, or add --simulate")
    if request.tracker is not None and request.display is None:
        raise InputError(f"--tracker {request.tracker} needs a window; leave --no-window out")
    if request.tracker is not None and request.keyboard != "ptb":
        raise InputError(
            f"--tracker {request.tracker} with --keyboard {request.keyboard}: the tracker has an ioHub "
            "server of its own; leave --keyboard at ptb"
        )
    participant_id = clean_label(request.participant, what="the participant's id")
    identity = Identity(
        participant_id=participant_id,
        session=clean_label(request.session, what="the session's name"),
        number=assign_number(benchmark.responses_folder, participant_id, given=request.number),
    )
    plan = plan_session(
        benchmark.trials,
        identity,
        config=request.config,
        practice=practice.trials if request.practice else None,
    )
    return Prepared(request=request, benchmark=benchmark, practice=practice, plan=plan)


def run_request(
    prepared: Prepared,
    *,
    ask: Question,
    on_trial: Callable[[], None] = lambda: None,
    on_report: Callable[[CheckReport], None] = lambda _: None,
) -> RunFiles:
    """Run a session and return its files.

    Parameters
    ----------
    prepared
        As from `prepare`.
    ask
        Asks what to do with an earlier run.
    on_trial
        Called after each presentation.
    on_report
        Given the check's page before the session begins.

    Raises
    ------
    InputError
        The session can't begin; nothing was written.
    SessionAborted
        It ended early; every finished trial is on disk.
    """
    responses = prepared.benchmark.responses_folder
    identity = prepared.plan.identity
    check_not_mixed(prepared.benchmark, is_simulated=prepared.request.is_simulated)
    with locking(responses, identity.participant_id):
        files, earlier = decide_run(prepared, ask=ask)
        with open_lab(prepared) as (lab, report):
            on_report(report)
            refuse_on_fail(report, despite=prepared.request.despite)
            if earlier is not None:
                supersede(earlier)
            mark_simulated(prepared.benchmark, is_simulated=prepared.request.is_simulated)
            recorder = open_recorder(prepared, lab, report, files=files)
            run_session(lab, make_script(prepared, on_trial=on_trial), recorder)
    return files


def decide_run(prepared: Prepared, *, ask: Question) -> tuple[RunFiles, RunFiles | None]:
    """Return the files to write, and an earlier run to move aside first, if any.

    Raises
    ------
    InputError
        There is an earlier run, and it is to be left alone.
    """
    responses = prepared.benchmark.responses_folder
    identity = prepared.plan.identity
    label = {"participant_id": identity.participant_id, "session": identity.session}
    current = find_current_run(responses, **label)
    if current is None:
        return name_run(responses, **label, run=next_run(responses, **label)), None
    policy = prepared.request.existing
    question = (
        f"participant {identity.participant_id!r}, session {identity.session!r} was run before "
        f"({current.rows})"
    )
    answer = ask(question) if policy == "ask" else policy
    if answer == "resume":
        return current, None
    if answer == "restart":
        return name_run(responses, **label, run=next_run(responses, **label)), current
    raise InputError(
        f"{question}; nothing was changed. Go on with --existing resume, begin anew with --existing "
        "restart (the old run is kept aside), or use another participant or session"
    )


def refuse_on_fail(report: CheckReport, *, despite: str | None) -> None:
    """Raise if a check failed, unless there is a reason to go on.

    Raises
    ------
    InputError
        Names what failed.
    """
    if report.failed and not despite:
        failed = "; ".join(
            f"{check.name}: {check.found}, expected {check.expected} ({check.remedy})"
            for check in report.failed
        )
        raise InputError(
            f"the check failed, so the session doesn't start. {failed}. Mend what failed, or give a "
            "reason with --despite REASON, which then stands in every row"
        )


def check_not_mixed(benchmark: Benchmark, *, is_simulated: bool) -> None:
    """Raise where simulated and real people would lie in one folder.

    Raises
    ------
    InputError
        Real people in a simulated benchmark, or simulated ones among real ones.
    """
    folder = benchmark.folder
    if not is_simulated and benchmark.manifest.is_simulated:
        raise InputError(
            f"{folder}: its people are simulated ({MANIFEST} says so); run real sessions in a "
            "benchmark folder of their own"
        )
    if is_simulated and not benchmark.manifest.is_simulated:
        others = sorted(benchmark.responses_folder.glob("*.csv"))
        if others:
            raise InputError(
                f"{folder}: it holds real people ({others[0].name}); simulate in a copy of the "
                "folder without responses, so that the two can't be taken for each other"
            )


def mark_simulated(benchmark: Benchmark, *, is_simulated: bool) -> None:
    """Let the benchmark say that its people are simulated."""
    if is_simulated and not benchmark.manifest.is_simulated:
        manifest = replace(benchmark.manifest, is_simulated=True)
        write_json(asdict(manifest), benchmark.folder / MANIFEST)


@contextmanager
def open_lab(prepared: Prepared) -> Iterator[tuple[Lab, CheckReport]]:
    """Give the apparatus, checked; close it at the end."""
    if prepared.request.display is None:
        stage = VirtualStage()
        person = announce(make_person(prepared, clock=stage.now), prepared, clock=stage.now)
        try:
            yield Lab(stage=stage, keys=Keys(person)), check_without_window(prepared)
        finally:
            person.close()
        return
    from experiment.window_lab import open_window_lab  # PsychoPy is imported only here

    with open_window_lab(prepared) as opened:
        yield opened


def announce(device: KeyDevice, prepared: Prepared, *, clock: Callable[[], float]) -> KeyDevice:
    """Return the device, telling the request's events file what is shown if there is one."""
    if prepared.request.events is None:
        return device
    return AnnouncingKeys(device, prepared.request.events, clock=clock)


def check_without_window(prepared: Prepared) -> CheckReport:
    """Return the page of a session without a window: only the disk can be checked."""
    return make_report(
        Display(
            name="no window", width_px=1, height_px=1, width_cm=1, distance_cm=1, refresh_hz=60
        ),
        [check_disk(prepared.benchmark.responses_folder)],
    )


def make_person(prepared: Prepared, *, clock: Callable[[], float]) -> SimulatedPerson:
    """Return the simulated person: the same for the same seed, participant and session."""
    request, identity = prepared.request, prepared.plan.identity
    person_rng = spawn_rng(request.seed, identity.participant_id, purpose="simulated person")
    answers_rng = spawn_rng(
        request.seed,
        f"{identity.participant_id}\n{identity.session}",
        purpose="simulated answers",
    )
    return SimulatedPerson(
        observer=draw_observer(
            replace(request.observer, timeout_s=request.config.timeout_s), person_rng
        ),
        difficulty_by_trial=plant_difficulty(prepared.benchmark, seed=request.seed),
        key_map=prepared.plan.key_map,
        rng=answers_rng,
        clock=clock,
    )


def plant_difficulty(benchmark: Benchmark, *, seed: int) -> dict[str, float]:
    """Return the displays' true difficulty, which all simulated people of a seed share."""
    rng = spawn_rng(seed, benchmark.manifest.name, purpose="true difficulty")
    difficulty = draw_true_difficulty(benchmark.trials, rng)
    return {str(trial_id): float(value) for trial_id, value in difficulty.items()}


def open_recorder(
    prepared: Prepared, lab: Lab, report: CheckReport, *, files: RunFiles
) -> Recorder:
    """Return the run's recorder, its sidecar written."""
    request = prepared.request
    device = lab.keys.device
    apparatus: dict[str, Any] = {
        "refresh_hz": lab.stage.refresh_hz,
        "keyboard": device.name,
        "tracker": lab.tracker.name if lab.tracker else None,
        "despite": request.despite,
        "is_simulated": device.is_simulated,
        "display": asdict(request.display) if request.display else None,
        "language": request.language,
        "observer": asdict(request.observer) | {"seed": request.seed}
        if request.is_simulated
        else None,
        "check": describe_report(report),
        **describe_machine(),
    }
    about = describe_run(
        prepared.benchmark,
        prepared.plan,
        config=request.config,
        run=files.run,
        seed_note=ORDER_NOTE,
    )
    return Recorder(
        files,
        about,
        plan=prepared.plan,
        apparatus=apparatus,
        syncs_each_row=request.display is not None,
    )


def make_script(prepared: Prepared, *, on_trial: Callable[[], None]) -> Script:
    """Return what the session shows."""
    request = prepared.request
    words = read_instructions(request.language)
    if request.display is None:
        return Script(
            plan=prepared.plan,
            config=request.config,
            words=words,
            find_pictures=lambda _: None,
            find_fixation=lambda _: None,
            on_trial=on_trial,
        )
    shelf = make_shelf(prepared, request.display)
    return Script(
        plan=prepared.plan,
        config=request.config,
        words=words,
        find_pictures=shelf.find_pictures,
        find_fixation=shelf.find_fixation if request.tracker else lambda _: None,
        on_trial=on_trial,
    )


def make_shelf(prepared: Prepared, display: Display) -> Shelf:
    """Return the session's photographs."""
    return Shelf(
        benchmark=prepared.benchmark,
        practice=prepared.practice,
        display=display,
        config=prepared.request.config,
    )
