"""What to read of a model, and how."""

from dataclasses import dataclass

from stimuli.dot_patches import DotRule


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """What to read and how; written into the record.

    Attributes
    ----------
    layers
        ``last``, ``all``, or numbers such as ``0,3,11``.
    representations
        Empty for the layers' outputs; see `model_eval.card.choose_features`.
    readouts
        Names; empty for the default ones, ``("all",)`` for all.
    is_costly_everywhere
        Readouts that need the whole affinity matrix (spread steps) are read of every feature, not
        only of the last layer's queries and keys.
    has_curves
        Also the published areas of mean curves (`model_eval.curves`).
    has_scenes
        Also statistics per scene over all labelled objects (`model_eval.scene_statistics`).
    has_scene_pairs
        With those that need all pairs of patches.
    has_pairs
        Also the vectors of both dots, for learned readouts (`model_eval.learned`).
    map_trials
        Also the first dot's affinity map of these trials; see `model_eval.map_files.choose_map_trials`.
    random_weights
        Seed of random weights, or None for pretrained ones.
    geometry
        How images become input; see `stimuli.geometry.Geometry`.
    dots
        Which patches speak for a dot; see `stimuli.dot_patches.read_dots`.
    batch_size
        Images of equal input size per forward pass.
    device
        Where networks run: ``cpu``, ``cuda``, ``mps``, or ``auto``.
    dtype
        ``float32``, or ``bfloat16`` or ``float16`` for autocast; similarities are float32 always.
    """

    layers: str = "last"
    representations: tuple[str, ...] = ()
    readouts: tuple[str, ...] = ()
    is_costly_everywhere: bool = False
    has_curves: bool = False
    has_scenes: bool = False
    has_scene_pairs: bool = False
    has_pairs: bool = False
    map_trials: tuple[str, ...] = ()
    random_weights: int | None = None
    geometry: str = "pad"
    dots: DotRule = "contains"
    batch_size: int = 1
    device: str = "cpu"
    dtype: str = "float32"
