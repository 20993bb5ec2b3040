"""Pretrained weights: whether they are here, and fetching them without hanging where they aren't.

timm's own `pretrained=True` retries for half a minute and ends in a page of traceback on a node
without network. Here the cache is looked at first, the network is tried once for a few seconds, and
the message says where the file has to lie and what fetches it on a machine with a network.
"""

import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from stimuli.errors import InputError

# One try to reach the network, in seconds; a cluster's firewall drops packets without an answer.
PATIENCE_S = 5.0
_SAFETENSORS, _PICKLED = "model.safetensors", "pytorch_model.bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsPlace:
    """Where a model's weights are published and cached.

    Attributes
    ----------
    hub_id
        Repository of the Hugging Face hub, or None.
    hub_files
        File names to try there, in order.
    url
        Elsewhere, or None.
    tag
        timm's name of the training.
    """

    hub_id: str | None
    hub_files: tuple[str, ...]
    url: str | None
    tag: str | None = None

    @property
    def exists(self) -> bool:
        """Whether the weights are published at all."""
        return bool(self.hub_id or self.url)

    @property
    def cache_path(self) -> Path:
        """Where the weights lie, or would lie, on this machine."""
        if self.hub_id:
            from huggingface_hub.constants import HF_HUB_CACHE

            return Path(HF_HUB_CACHE) / f"models--{self.hub_id.replace('/', '--')}"
        return _torch_checkpoints() / Path(urlsplit(str(self.url)).path).name

    @property
    def fetch_command(self) -> str:
        """The command that fetches them on a machine with a network."""
        if self.hub_id:
            return f"hf download {self.hub_id} {self.hub_files[0]}"
        return f"curl -L -o {self.cache_path.name} {self.url}"


def find_place(name: str) -> WeightsPlace:
    """Return where the weights of a timm name, with a tag or timm's default one, are published."""
    from timm.models import get_pretrained_cfg

    config = get_pretrained_cfg(name)
    if config is None:
        return WeightsPlace(hub_id=None, hub_files=(), url=None)
    hub_id = config.hf_hub_id if isinstance(config.hf_hub_id, str) else None
    names = (config.hf_hub_filename,) if config.hf_hub_filename else (_SAFETENSORS, _PICKLED)
    return WeightsPlace(
        hub_id=hub_id,
        hub_files=names if hub_id else (),
        url=config.url if isinstance(config.url, str) and config.url and not hub_id else None,
        tag=config.tag,
    )


def find_cached(place: WeightsPlace) -> Path | None:
    """Return the file of the weights on this machine, without using a network; None if not here."""
    if place.hub_id:
        from huggingface_hub import try_to_load_from_cache

        for name in place.hub_files:
            found = try_to_load_from_cache(place.hub_id, name)
            if isinstance(found, str):
                return Path(found)
        return None
    return place.cache_path if place.url and place.cache_path.is_file() else None


def fetch_weights(place: WeightsPlace, *, name: str) -> Path:
    """Return the file of a model's weights, fetched if it isn't here and a network is.

    Parameters
    ----------
    place
        From `find_place`.
    name
        The model, for messages.

    Raises
    ------
    InputError
        None are published, or they can't be fetched; says the cache's path and the command that
        fetches them elsewhere. Comes within seconds.
    """
    if not place.exists:
        raise InputError(
            f"{name}: no pretrained weights are published for it; use --random-weights SEED, or a "
            f"pretrained name ('objecthood models list {name}*')"
        )
    cached = find_cached(place)
    if cached is not None:
        return cached
    reason = _why_unreachable(place)
    if reason is None:
        try:
            return _download(place)
        except OSError as error:
            reason = str(error).splitlines()[0]
    raise InputError(
        f"{name}: its weights aren't here and can't be fetched ({reason}). Run "
        f"'{place.fetch_command}' on a machine with a network and copy the result to "
        f"{place.cache_path} here; or use --random-weights SEED"
    )


def fetch_repository(name: str) -> Path:
    """Return the folder of a Hugging Face repository's JSON and safetensors files, fetched if need be.

    Raises
    ------
    InputError
        It isn't here and can't be fetched; comes within seconds.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    patterns = ["*.json", "*.safetensors"]
    place = WeightsPlace(hub_id=name, hub_files=(_SAFETENSORS,), url=None)
    try:
        folder = Path(snapshot_download(name, allow_patterns=patterns, local_files_only=True))
        if any(folder.glob("*.safetensors")):
            return folder
    except LocalEntryNotFoundError:
        pass
    except HFValidationError as error:
        raise InputError(f"hf:{name}: neither a folder nor a repository's name ({error})") from None
    reason = _why_unreachable(place)
    if reason is None:
        try:
            return Path(snapshot_download(name, allow_patterns=patterns, etag_timeout=PATIENCE_S))
        except OSError as error:
            reason = str(error).splitlines()[0]
    raise InputError(
        f"hf:{name}: it isn't here and can't be fetched ({reason}). Run 'hf download {name}' on a "
        f"machine with a network and copy the result to {place.cache_path} here"
    )


def _why_unreachable(place: WeightsPlace) -> str | None:
    """Try the network once, shortly, through the proxies of the environment; None when it answers."""
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE

    if place.hub_id and HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    parts = urlsplit(ENDPOINT if place.hub_id else str(place.url))
    request = urllib.request.Request(f"{parts.scheme}://{parts.netloc}", method="HEAD")  # noqa: S310 (the hub's own address)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S):  # noqa: S310 (as above)
            return None
    except urllib.error.HTTPError:
        return None
    except (OSError, ValueError) as error:
        return f"no network: {getattr(error, 'reason', error)}"


def _download(place: WeightsPlace) -> Path:
    """Fetch from the hub, or from a plain address through torch's cache."""
    if place.hub_id is None:
        from torch.hub import download_url_to_file

        place.cache_path.parent.mkdir(parents=True, exist_ok=True)
        download_url_to_file(str(place.url), str(place.cache_path), progress=False)
        return place.cache_path
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    *firsts, last = place.hub_files
    for file_name in firsts:
        try:
            return Path(hf_hub_download(place.hub_id, file_name, etag_timeout=PATIENCE_S))
        except EntryNotFoundError:
            continue
    return Path(hf_hub_download(place.hub_id, last, etag_timeout=PATIENCE_S))


def _torch_checkpoints() -> Path:
    """torch.hub's folder of files, without importing torch."""
    home = (
        os.environ.get("TORCH_HOME")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torch"
    )
    return Path(home).expanduser() / "hub" / "checkpoints"
