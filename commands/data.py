"""`objecthood data`: published data to a benchmark folder, lab tables to responses."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from commands.console import ERR, print_json, print_result, progress_bar, say
from commands.lab_tables import check, import_responses

app = typer.Typer(no_args_is_help=True, help="Published data; lab tables, checked and imported.")
app.command()(check)
app.command(name="import-responses")(import_responses)


class Source(StrEnum):
    """Data sets that can be fetched and imported."""

    ADELI2023 = "adeli2023"


@app.command()
def fetch(
    source: Annotated[Source, typer.Argument(help="The data set.")],
    out: Annotated[Path, typer.Option(help="Folder for the source files.")],
    tables_url: Annotated[str | None, typer.Option(help="A mirror of the tables.")] = None,
    coco_url: Annotated[str | None, typer.Option(help="A mirror of COCO.")] = None,
) -> None:
    """Fetch the tables, COCO photographs and annotations; an interrupted run continues.

    Example: `objecthood data fetch adeli2023 --out src/adeli2023`
    """
    from stimuli.fetch import COCO_URL, TABLES_URL, fetch_adeli2023

    with progress_bar(f"fetching {source}", total=None) as advance:
        fetch_adeli2023(
            out,
            tables_url=tables_url or TABLES_URL,
            coco_url=coco_url or COCO_URL,
            on_start=advance.set_total,
            on_file=advance,
        )
    say(f"next: objecthood data import {source} {out} --out BENCH")
    print_result(str(out))


@app.command(name="import")
def import_(
    source: Annotated[Source, typer.Argument(help="The data set.")],
    src: Annotated[Path, typer.Argument(help="Folder with the source files.")],
    out: Annotated[Path, typer.Option(help="The benchmark folder to make.")],
    images: Annotated[
        list[Path] | None, typer.Option(help="More folders with COCO photographs (repeatable).")
    ] = None,
    panoptic: Annotated[
        list[Path] | None,
        typer.Option(
            help="COCO panoptic JSON with its PNG folder beside it, for masks (repeatable)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Turn published tables into a benchmark folder; photographs and masks where they are.

    Example: `objecthood data import adeli2023 src/adeli2023 --out bench/adeli2023`
    """
    from analysis.adeli2023 import import_adeli2023

    with progress_bar(f"importing {source}", total=None) as advance:
        report = import_adeli2023(
            src,
            out=out,
            image_folders=images or [],
            panoptic=panoptic or [],
            on_start=advance.set_total,
            on_scene=advance,
        )
    for line in report.misfits:
        ERR.print(f"no object numbers: {line}", markup=False)
    if as_json:
        print_json(report.counts)
        return
    print_result(report.text)
    say(f"wrote {out}; next: objecthood human {out}")


@app.command()
def codebook() -> None:
    """Print the code book of all tables as Markdown.

    Example: `objecthood data codebook > data/codebook.md`
    """
    from analysis.codebook import render_codebook

    print_result(render_codebook().rstrip("\n"))
