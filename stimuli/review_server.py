"""The review page: one local page that shows each scene's displays and takes decisions by key.

Served by the standard library on the loopback interface alone. A token that only the page knows, and
the names under which the server may be called, keep other pages in the same browser from writing.
"""

import contextlib
import json
import secrets
from collections import OrderedDict
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, unquote, urlsplit

from PIL import Image

from stimuli.benchmark import Benchmark
from stimuli.errors import InputError
from stimuli.preview import SheetStyle, draw_displays
from stimuli.review import REASONS, Review, append_review, read_reviews

PAGE = Path(__file__).with_name("review.html")
HOST = "127.0.0.1"
MAX_BODY_BYTES = 10_000
N_CACHED_SCENES = 8


@dataclass(slots=True, kw_only=True)
class ReviewState:
    """What the server knows: the benchmark, the decisions so far, and the page's token.

    `lock` guards decisions and the small cache of drawn scenes, since requests run in threads.
    """

    benchmark: Benchmark
    style: SheetStyle
    reviewer: str | None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    lock: Lock = field(default_factory=Lock)
    reviews: dict[str, Review] = field(default_factory=dict)
    drawn: OrderedDict[tuple[str, bool], list[bytes]] = field(default_factory=OrderedDict)

    @property
    def scene_ids(self) -> list[str]:
        """The scenes, in the table's order."""
        return self.benchmark.trials["scene_id"].unique().tolist()

    def describe(self) -> dict[str, object]:
        """Return what the page needs to start or to go on."""
        trials = self.benchmark.trials
        n_displays = trials.groupby("scene_id").size()
        return {
            "benchmark": self.benchmark.manifest.name,
            "reasons": list(REASONS),
            "scenes": [
                {
                    "scene_id": scene_id,
                    "n_displays": int(n_displays[scene_id]),
                    "review": asdict(self.reviews[scene_id]) if scene_id in self.reviews else None,
                }
                for scene_id in self.scene_ids
            ],
        }

    def decide(self, content: object) -> Review:
        """Write a decision and return it.

        Raises
        ------
        InputError
            It isn't one, or is on a scene that isn't there.
        """
        if not isinstance(content, dict) or content.get("scene_id") not in self.scene_ids:
            raise InputError("a decision names a scene of this benchmark, a verdict and a reason")
        reason = content.get("reason")
        review = Review(
            scene_id=content["scene_id"],
            verdict=content.get("verdict", ""),
            reason=str(reason).strip() or None if reason is not None else None,
            reviewer=self.reviewer,
        )
        with self.lock:
            written = append_review(review, self.benchmark.folder)
            self.reviews[written.scene_id] = written
        return written

    def draw(self, scene_id: str, *, has_outlines: bool) -> list[bytes]:
        """Return the displays of a scene as PNGs.

        Raises
        ------
        InputError
            No such scene, or its image can't be read.
        """
        if scene_id not in self.scene_ids:
            raise InputError(f"no scene {scene_id!r}")
        key = (scene_id, has_outlines)
        with self.lock:
            if key not in self.drawn:
                panels = draw_displays(
                    self.benchmark, scene_id, self.style.with_outlines(has_outlines=has_outlines)
                )
                self.drawn[key] = [_encode(panel) for panel in panels]
                while len(self.drawn) > N_CACHED_SCENES:
                    self.drawn.popitem(last=False)
            return self.drawn[key]


def start_server(
    benchmark: Benchmark, *, style: SheetStyle, reviewer: str | None, port: int
) -> tuple[ThreadingHTTPServer, ReviewState]:
    """Return a server, bound but not yet serving, and its state.

    Parameters
    ----------
    benchmark
        What to review; decisions already taken are read.
    style
        How displays look.
    reviewer
        Who looks; stands in each row.
    port
        0: any that is free.

    Raises
    ------
    InputError
        The port is taken, or the decisions so far can't be read.
    """
    state = ReviewState(
        benchmark=benchmark, style=style, reviewer=reviewer, reviews=read_reviews(benchmark)
    )
    handler = type("ReviewHandler", (_Handler,), {"state": state})
    try:
        return ThreadingHTTPServer((HOST, port), handler), state
    except OSError as error:
        raise InputError(f"port {port} of {HOST} can't be used ({error}); name another") from None


def _encode(panel: object) -> bytes:
    stream = BytesIO()
    Image.fromarray(panel).save(stream, format="PNG", compress_level=1)  # type: ignore[arg-type]
    return stream.getvalue()


class _Handler(BaseHTTPRequestHandler):
    """Answers the page: itself, its data, pictures, and decisions."""

    state: ReviewState

    def do_GET(self) -> None:
        """Send the page, the state or a picture."""
        if not self._is_local():
            return
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        match parts:
            case [""]:
                page = PAGE.read_text(encoding="utf-8").replace("{{token}}", self.state.token)
                self._send(page.encode(), "text/html; charset=utf-8")
            case ["state"]:
                self._send_json(self.state.describe())
            case ["picture", scene_id, number] if number.isdigit():
                outlines = parse_qs(url.query).get("outlines", ["1"]) == ["1"]
                self._send_picture(scene_id, int(number), has_outlines=outlines)
            case _:
                self._send_json({"error": "no such page"}, HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Take a decision."""
        if not self._is_local():
            return
        length = int(self.headers.get("Content-Length", 0) or 0)
        if self.headers.get("X-Review-Token") != self.state.token or length > MAX_BODY_BYTES:
            self._send_json({"error": "not from this page; reload it"}, HTTPStatus.FORBIDDEN)
            return
        try:
            written = self.state.decide(json.loads(self.rfile.read(length)))
        except (InputError, json.JSONDecodeError) as error:
            self._send_json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except OSError as error:
            self._send_json({"error": f"not saved: {error}"}, HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            self._send_json(asdict(written))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """Stay quiet: the terminal is for the summary."""

    def _is_local(self) -> bool:
        """Refuse names that another page could have made point here."""
        host = (self.headers.get("Host") or "").rsplit(":", maxsplit=1)[0]
        if host in {HOST, "localhost"}:
            return True
        self._send_json({"error": "this server is local"}, HTTPStatus.FORBIDDEN)
        return False

    def _send_picture(self, scene_id: str, number: int, *, has_outlines: bool) -> None:
        try:
            pictures = self.state.draw(scene_id, has_outlines=has_outlines)
        except InputError as error:
            self._send_json({"error": str(error)}, HTTPStatus.NOT_FOUND)
            return
        if number >= len(pictures):
            self._send_json({"error": "no such display"}, HTTPStatus.NOT_FOUND)
            return
        self._send(pictures[number], "image/png")

    def _send_json(self, content: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        body = json.dumps(content, ensure_ascii=False).encode()
        self._send(body, "application/json; charset=utf-8", status)

    def _send(self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        # A page that was left in the meantime wants no answer; a decision is on disk by now.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)
