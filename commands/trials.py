"""`objecthood trials`: scenes with masks to dot pairs, and proof that the design is sound."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import print_json, print_result, progress_bar, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stimuli.build import Build
    from stimuli.faults import FaultLog
    from stimuli.scenes import Scene

app = typer.Typer(
    no_args_is_help=True, help="Place dots on masked photographs; review, audit, preview."
)

# Sources that are no path: made scenes, and the controlled set.
MADE, CONTROLLED = "made", "controlled"
N_MADE = 96
Bench = Annotated[Path, typer.Argument(help="A benchmark folder.")]


class Format(StrEnum):
    """Formats of annotated photographs."""

    COCO_PANOPTIC = "coco-panoptic"
    COCO_INSTANCES = "coco-instances"
    ADE20K = "ade20k"
    LABELS = "labels"


class OnFault(StrEnum):
    """What to do with a fault of the source."""

    SKIP = "skip"
    REFUSE = "refuse"


class DrawnOn(StrEnum):
    """What masks were drawn on."""

    UNKNOWN = "unknown"
    UPRIGHT = "upright"
    STORED = "stored"


@app.command()
def make(
    source: Annotated[
        str,
        typer.Argument(
            help="COCO JSON or folder, ADE20K folder, folder with images/ and masks/; 'made' for "
            "built-in scenes, 'controlled' for those in which texture, class and object come apart."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The benchmark folder to make.")],
    design: Annotated[
        str, typer.Option(help="default (published), smaller, demo, or a JSON file.")
    ] = "default",
    seed: Annotated[int, typer.Option(help="Root of all that is drawn.")] = 1,
    format_: Annotated[
        Format | None, typer.Option("--format", help="The source's format, if not recognised.")
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the photographs.")] = None,
    masks: Annotated[Path | None, typer.Option(help="Folder of the masks.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the benchmark.")] = None,
    practice: Annotated[int, typer.Option(help="Scenes set aside for practice.")] = 0,
    blocks: Annotated[int, typer.Option(help="Blocks of a session.")] = 4,
    max_scenes: Annotated[
        int | None, typer.Option(help="Stop at so many scenes with displays (built-in: 96).")
    ] = None,
    on_fault: Annotated[
        OnFault, typer.Option(help="Skip and count faulty annotations, or stop at the first.")
    ] = OnFault.SKIP,
    level: Annotated[int, typer.Option(help="ADE20K: 0 objects, 1 their parts.")] = 0,
    masks_drawn_on: Annotated[
        DrawnOn, typer.Option(help="For EXIF-turned photographs whose size doesn't tell.")
    ] = DrawnOn.UNKNOWN,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Place the four displays of each scene and write a benchmark folder.

    Example: `objecthood trials make coco/annotations/panoptic_val2017.json --out bench --practice 32`
    """
    from stimuli.benchmark import Manifest
    from stimuli.build import build_benchmark, build_controlled
    from stimuli.design import read_design
    from stimuli.faults import FaultLog
    from stimuli.lists import ListDesign
    from stimuli.sources import SourceOptions, open_source, read_scenes
    from stimuli.table_io import write_table

    chosen_design = read_design(design)
    faults = FaultLog(policy=on_fault.value)
    manifest = Manifest(
        name=name or out.resolve().name,
        version="1",
        source=f"objecthood trials make {source} --design {design} --seed {seed}",
        licence="per image: column image_licence of trials.csv",
    )
    lists = ListDesign(n_practice_scenes=practice, n_blocks=blocks)
    if source == CONTROLLED:
        built = build_controlled(
            out,
            n_scenes=max_scenes or N_MADE,
            design=chosen_design,
            seed=seed,
            manifest=manifest,
            lists=lists,
        )
        _report(built, faults, as_json=as_json)
        return
    if source == MADE:
        max_scenes = max_scenes or N_MADE
        total, scenes = max_scenes, _make_scenes(design, seed=seed, max_scenes=max_scenes)
    else:
        options = SourceOptions(
            kind=format_.value if format_ else None,
            images_folder=images,
            masks_folder=masks,
            level=level,
            drawn_on=masks_drawn_on.value,
        )
        sets = open_source(Path(source), options)
        total, scenes = sum(len(one.scene_ids) for one in sets), read_scenes(sets, faults)
    with progress_bar("placing dots", total=total) as advance:
        built = build_benchmark(
            _count_off(scenes, advance),
            out,
            design=chosen_design,
            seed=seed,
            manifest=manifest,
            lists=lists,
            max_scenes=max_scenes,
        )
    if faults.faults:
        write_table(faults.table, out / "faults.csv")
    _report(built, faults, as_json=as_json)


@app.command()
def audit(
    bench: Bench,
    out: Annotated[
        Path | None, typer.Option(help="Folder for table and figure [default: BENCH/audit].")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of folds, resampling and permutations.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check what the design gives away; ends with exit code 1 if a check fails.

    Example: `objecthood trials audit bench`
    """
    import numpy as np

    from analysis.figures.design_audit import NAME, TEXT, TITLE, draw_design_audit
    from analysis.figures.save import save_figure
    from stimuli.audit import Evidence, audit_trials
    from stimuli.benchmark import load_scene_mask, open_benchmark, read_objects
    from stimuli.build import read_benchmark_design
    from stimuli.preview import load_pixels_if_any

    benchmark = open_benchmark(bench)
    n_scenes = benchmark.trials["scene_id"].nunique()
    with progress_bar("reading scenes", total=n_scenes) as advance:

        def load_pixels(row):  # noqa: ANN001, ANN202 (a closure over the bar)
            advance()
            return load_pixels_if_any(benchmark, row)

        evidence = Evidence(
            load_pixels=load_pixels,
            load_labels=lambda row: load_scene_mask(benchmark, row),
            objects=read_objects(benchmark),
            dot_radius_px=read_benchmark_design(benchmark).dot_radius_px,
        )
        found = audit_trials(benchmark.trials, evidence, rng=np.random.default_rng(seed))
    save_figure(
        draw_design_audit(
            found.table, benchmark.trials, title=f"{benchmark.manifest.name}: {found.verdict}"
        ),
        NAME,
        table=found.table,
        caption={
            "title": TITLE,
            "text": TEXT,
            "benchmark": benchmark.manifest.name,
            "verdict": found.verdict,
            "seed": seed,
        },
        folder=out or bench / "audit",
    )
    if as_json:
        print_json({"verdict": found.verdict, "checks": found.records})
    else:
        print_result(found.text)
    say(f"wrote {out or bench / 'audit'}")
    if found.verdict == "fail":
        raise typer.Exit(1)


@app.command()
def preview(
    bench: Bench,
    out: Annotated[Path, typer.Option(help="The sheet, a PNG; several are numbered.")],
    scene: Annotated[list[str] | None, typer.Option(help="Only these scenes (repeatable).")] = None,
    scenes_per_sheet: Annotated[int, typer.Option(help="Rows of a sheet.", min=1)] = 10,
    outlines: Annotated[bool, typer.Option(help="Outline the objects.")] = True,
    panel_width: Annotated[int, typer.Option(help="Width of a display, pixels.", min=40)] = 320,
) -> None:
    """Draw contact sheets: a row per scene with its four displays.

    Example: `objecthood trials preview bench --out sheet.png`
    """
    from stimuli.benchmark import open_benchmark
    from stimuli.build import read_benchmark_design
    from stimuli.dots import scale_dots
    from stimuli.preview import SheetStyle, choose_scenes, write_sheets

    benchmark = open_benchmark(bench)
    design = read_benchmark_design(benchmark)
    scene_ids = choose_scenes(benchmark, scene)
    style = SheetStyle(
        panel_width_px=panel_width,
        has_outlines=outlines,
        dot=scale_dots(design.dot_radius_px),
        px_per_degree=design.px_per_degree,
    )
    with progress_bar("drawing", total=len(scene_ids)) as advance:
        paths = write_sheets(
            benchmark,
            out,
            scene_ids=scene_ids,
            scenes_per_sheet=scenes_per_sheet,
            style=style,
            on_scene=advance,
        )
    for path in paths:
        print_result(str(path))


@app.command()
def review(
    bench: Bench,
    reviewer: Annotated[str | None, typer.Option(help="Who looks; stands in each row.")] = None,
    port: Annotated[int, typer.Option(help="Port of the page; 0: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    panel_width: Annotated[int, typer.Option(help="Width of a display, pixels.", min=40)] = 640,
) -> None:
    """Look at each scene and keep, reject or mark it, on one local page; Ctrl-C ends it.

    Decisions are saved as they are taken, and the next start goes on. Then apply them.

    Example: `objecthood trials review bench --reviewer mk`
    """
    import webbrowser

    from stimuli.benchmark import open_benchmark
    from stimuli.build import read_benchmark_design
    from stimuli.dots import scale_dots
    from stimuli.preview import SheetStyle
    from stimuli.review import count_reviews
    from stimuli.review_server import start_server

    benchmark = open_benchmark(bench)
    design = read_benchmark_design(benchmark)
    style = SheetStyle(
        panel_width_px=panel_width,
        dot=scale_dots(design.dot_radius_px),
        px_per_degree=design.px_per_degree,
    )
    server, state = start_server(benchmark, style=style, reviewer=reviewer, port=port)
    page = f"http://127.0.0.1:{server.server_port}/"
    say(f"reviewing {bench} at {page} (Ctrl-C to stop)")
    if browser:
        webbrowser.open(page)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
    for verdict, n in count_reviews(state.reviews).items():
        print_result(f"{n:5d}  {verdict}")
    print_result(f"{len(state.reviews)} of {len(state.scene_ids)} scenes reviewed")
    say(f"next: objecthood trials apply-review {bench} --out NEW")


@app.command(name="apply-review")
def apply_review_(
    bench: Bench,
    out: Annotated[Path, typer.Option(help="The new benchmark folder.")],
    keep_ambiguous: Annotated[
        bool, typer.Option(help="Keep scenes that were marked ambiguous.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the new lists.")] = 1,
) -> None:
    """Write a benchmark without the scenes that a review rejected; dropped.csv says why.

    Example: `objecthood trials apply-review bench --out bench-reviewed`
    """
    import numpy as np

    from stimuli.benchmark import open_benchmark
    from stimuli.review import apply_review, count_reviews, read_reviews

    benchmark = open_benchmark(bench)
    reviewed = apply_review(
        benchmark,
        out,
        dropped_verdicts=("reject",) if keep_ambiguous else ("reject", "ambiguous"),
        rng=np.random.default_rng(seed),
    )
    for verdict, n in count_reviews(read_reviews(benchmark)).items():
        print_result(f"{n:5d}  {verdict}")
    before, after = (one.trials["scene_id"].nunique() for one in (benchmark, reviewed))
    print_result(f"{after} of {before} scenes are in {out}")


def _make_scenes(design: str, *, seed: int, max_scenes: int) -> "Iterator[Scene]":
    """Made scenes of a size that fits the design; at most ten tries per scene wanted."""
    from itertools import islice

    from stimuli.procedural import DEMO_SCENES, SceneDesign, generate_scenes

    looks = DEMO_SCENES if design == "demo" else SceneDesign()
    return islice(generate_scenes(looks, prefix="made", seed=seed), 10 * max_scenes)


def _count_off(scenes: "Iterator[Scene]", advance) -> "Iterator[Scene]":  # noqa: ANN001
    for scene in scenes:
        yield scene
        advance()


def _report(built: "Build", faults: "FaultLog", *, as_json: bool) -> None:
    trials = built.benchmark.trials
    counts = {
        "n_scenes_read": len(built.placement),
        "n_scenes_with_displays": int(trials["scene_id"].nunique()),
        "n_trials": len(trials),
        "without_displays": built.n_by_reason,
        "faults": faults.n_by_kind,
    }
    if as_json:
        print_json(counts)
        return
    print_result(
        f"{counts['n_scenes_with_displays']} of {counts['n_scenes_read']} scenes have displays, "
        f"{counts['n_trials']} in all"
    )
    for title, numbers in (("no displays", built.n_by_reason), ("fault", faults.n_by_kind)):
        for reason, n in numbers.items():
            print_result(f"{n:5d}  {title}: {reason}")
    bench = built.benchmark.folder
    say(f"wrote {bench}; next: objecthood trials audit {bench}")
