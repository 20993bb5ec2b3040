"""`objecthood session`: run the task on people (or simulated ones), check, preview, export."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from commands.console import print_json, print_result, progress_bar, say

app = typer.Typer(no_args_is_help=True, help="Run lab sessions, check the apparatus, export.")

Policy = Literal["ask", "resume", "restart", "refuse"]
BenchmarkArgument = Annotated[Path, typer.Argument(help="A benchmark folder.")]
DisplayOption = Annotated[
    str,
    typer.Option(help="A displays file (YAML), or a display that comes with the program."),
]
DisplayNameOption = Annotated[
    str | None, typer.Option(help="Which display of the file, if it holds several.")
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(help="JSON with settings that differ from the published study."),
]
KeyboardOption = Annotated[
    Literal["ptb", "iohub"], typer.Option(help="What times the keys: psychtoolbox or ioHub.")
]
LanguageOption = Annotated[
    str, typer.Option(help="Language of the instructions (en, de), or a text file.")
]
PracticeOption = Annotated[
    str | None,
    typer.Option(help="Another benchmark folder to practise on, or 'none' for no practice."),
]
# The session ended before its last display; every finished trial is on disk.
EXIT_ENDED_EARLY = 3


@app.command()
def run(
    benchmark: BenchmarkArgument,
    participant: Annotated[str, typer.Option(help="The participant's id, as text.")],
    display: DisplayOption = "window",
    display_name: DisplayNameOption = None,
    session: Annotated[str, typer.Option(help="The visit.")] = "1",
    number: Annotated[
        int | None,
        typer.Option(help="The participant's number, where the id holds none; decides the list."),
    ] = None,
    config: ConfigOption = None,
    language: LanguageOption = "en",
    practice: PracticeOption = None,
    existing: Annotated[
        Policy, typer.Option(help="What to do if this session was run before.")
    ] = "ask",
    despite: Annotated[
        str | None, typer.Option(help="Run although a check fails; the reason stands in every row.")
    ] = None,
    tracker: Annotated[
        Literal["eyelink", "mouse"] | None,
        typer.Option(help="Gaze tracker: eyelink, or mouse for a demonstration."),
    ] = None,
    keyboard: KeyboardOption = "ptb",
    simulate: Annotated[bool, typer.Option(help="A simulated person answers.")] = False,
    window: Annotated[
        bool, typer.Option(help="Without a window: simulated people only, at full speed.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed of simulated people.")] = 0,
    events: Annotated[
        Path | None,
        typer.Option(help="A file or pipe that is told what is shown as it is shown (JSON lines)."),
    ] = None,
    check_flips: Annotated[int, typer.Option(help="Flips timed before the session.")] = 120,
) -> None:
    """Run one participant's session, or resume it.

    Example: `objecthood session run bench/mine --participant 07 --display displays.yaml`
    """
    from experiment.endings import SessionAborted
    from experiment.launch import Request, prepare, run_request
    from experiment.screen import read_display

    settings, practice_folder = _read_settings(benchmark, config, practice)
    request = Request(
        benchmark=benchmark,
        participant=participant,
        session=session,
        number=number,
        config=settings,
        display=read_display(display, name=display_name) if window else None,
        language=language,
        practice=practice_folder,
        existing=existing,
        despite=despite,
        tracker=tracker,
        keyboard=keyboard,
        is_simulated=simulate,
        seed=seed,
        n_check_flips=check_flips,
        events=events,
    )
    prepared = prepare(request)
    n_practice = sum(trial.is_practice for trial in prepared.plan.trials)
    if n_practice < settings.n_practice:
        say(f"practice: {n_practice} displays; {settings.n_practice} are configured")
    _check_images(prepared)
    try:
        files = run_request(prepared, ask=_ask, on_report=_tell_report)
    except SessionAborted as aborted:
        say(f"the session ended early: {aborted}")
        say(
            "every finished trial is on disk; start the same command again with --existing resume "
            "to go on"
        )
        raise typer.Exit(EXIT_ENDED_EARLY) from None
    say(f"complete: {files.rows}")


@app.command()
def simulate(
    benchmark: BenchmarkArgument,
    people: Annotated[int, typer.Option(help="How many.")] = 24,
    seed: Annotated[int, typer.Option(help="Seed of people and displays.")] = 0,
    config: ConfigOption = None,
    practice: PracticeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run a whole study of simulated people through the task, without a window.

    Example: `objecthood session simulate bench/copy --people 72`
    """
    from experiment.study import simulate_study

    settings, practice_folder = _read_settings(benchmark, config, practice)
    with progress_bar("simulated people", total=people) as advance:
        n_rows = simulate_study(
            benchmark,
            n_people=people,
            seed=seed,
            config=settings,
            practice=practice_folder,
            on_person=advance,
        )
    if as_json:
        print_json({"n_people": people, "n_rows": n_rows, "is_simulated": True})
    else:
        print_result(f"{people} SIMULATED people, {n_rows} rows in {benchmark / 'responses'}")


@app.command()
def check(
    benchmark: BenchmarkArgument,
    display: DisplayOption = "window",
    display_name: DisplayNameOption = None,
    config: ConfigOption = None,
    language: LanguageOption = "en",
    keyboard: KeyboardOption = "ptb",
    as_json: Annotated[bool, typer.Option("--json", help="Print the page as JSON.")] = False,
) -> None:
    """Check screen, keys, sound and disk before people arrive; exit code 1 on a fail.

    Example: `objecthood session check bench/mine --display displays.yaml`
    """
    from experiment.checks import describe_report, format_report, write_report
    from experiment.screen import read_display
    from experiment.window_lab import check_apparatus
    from stimuli.benchmark import open_benchmark

    opened = open_benchmark(benchmark)
    settings, _ = _read_settings(benchmark, config, None)
    report = check_apparatus(
        opened,
        display=read_display(display, name=display_name),
        config=settings,
        language=language,
        keyboard=keyboard,
    )
    path = write_report(report, opened.responses_folder)
    if as_json:
        print_json(describe_report(report))
    else:
        print_result(format_report(report))
    say(f"saved as {path}")
    raise typer.Exit(1 if report.status == "fail" else 0)


@app.command()
def preview(
    benchmark: BenchmarkArgument,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")],
    display: DisplayOption = "window",
    display_name: DisplayNameOption = None,
    config: ConfigOption = None,
    language: LanguageOption = "en",
    practice: PracticeOption = None,
    trial: Annotated[str | None, typer.Option(help="Which display; the first by default.")] = None,
) -> None:
    """Take a screenshot of every phase, for the methods section and for ethics committees.

    Example: `objecthood session preview bench/mine --display displays.yaml --out pictures`
    """
    from experiment.preview import write_preview
    from experiment.screen import read_display

    settings, practice_folder = _read_settings(benchmark, config, practice)
    paths = write_preview(
        benchmark,
        out,
        display=read_display(display, name=display_name),
        config=settings,
        language=language,
        practice=practice_folder,
        trial_id=trial,
    )
    for path in paths:
        print_result(str(path))


@app.command()
def export(
    benchmark: BenchmarkArgument,
    bids: Annotated[Path | None, typer.Option(help="Folder for a BIDS data set.")] = None,
    psych_ds: Annotated[Path | None, typer.Option(help="Folder for a Psych-DS data set.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the data set.")] = None,
    licence: Annotated[str | None, typer.Option(help="Licence of the data set.")] = None,
    author: Annotated[list[str] | None, typer.Option(help="An author; may be repeated.")] = None,
) -> None:
    """Write the responses as a data set that others can read.

    Example: `objecthood session export bench/mine --bids out/bids --licence CC0`
    """
    from experiment.bids import export_bids
    from experiment.export import About
    from experiment.psych_ds import export_psych_ds
    from stimuli.benchmark import open_benchmark
    from stimuli.errors import InputError

    if bids is None and psych_ds is None:
        raise InputError("nothing to do: name a folder with --bids or --psych-ds")
    opened = open_benchmark(benchmark)
    about = About(
        name=name or opened.manifest.name,
        licence=licence or opened.manifest.licence,
        authors=tuple(author or ()),
    )
    for folder, write in ((bids, export_bids), (psych_ds, export_psych_ds)):
        if folder is not None:
            n_runs = write(opened, folder, about=about)
            say(f"{n_runs} runs in {folder}")


@app.command("import")
def import_(
    benchmark: BenchmarkArgument,
    bids: Annotated[Path, typer.Option(help="A data set of 'session export --bids'.")],
) -> None:
    """Read the responses of an exported data set back into a benchmark folder without people.

    Example: `objecthood session import bench/copy --bids out/bids`
    """
    from experiment.bids import import_bids
    from stimuli.benchmark import open_benchmark

    path, n_rows = import_bids(open_benchmark(benchmark), bids)
    say(f"{n_rows} rows in {path}")


def _read_settings(benchmark: Path, config: Path | None, practice: str | None) -> tuple:
    """Return the configuration and the folder to practise on."""
    from dataclasses import replace

    from experiment.config import fit_to_design, read_config

    settings = read_config(config, base=fit_to_design(benchmark))
    if practice == "none":
        return replace(settings, n_practice=0), None
    return settings, Path(practice) if practice else None


def _check_images(prepared) -> None:  # noqa: ANN001 (imported where it is used)
    """Look at every photograph before anybody sits down."""
    from experiment.launch import make_shelf

    display = prepared.request.display
    if display is None:
        return
    with progress_bar("looking at the photographs", total=len(prepared.plan.trials)) as advance:
        make_shelf(prepared, display).check_all(prepared.plan, on_image=advance)


def _ask(question: str) -> Literal["resume", "restart", "refuse"]:
    """Ask on the terminal; where nobody can answer, refuse."""
    if not sys.stdin.isatty():
        return "refuse"
    say(question)
    while True:
        answer = typer.prompt("resume, restart or refuse?").strip().lower()
        for choice in ("resume", "restart", "refuse"):
            if answer and choice.startswith(answer) and len(answer) >= 3:
                return choice


def _tell_report(report) -> None:  # noqa: ANN001 (imported where it is used)
    from experiment.checks import format_report

    if report.status != "pass":
        say(format_report(report))
