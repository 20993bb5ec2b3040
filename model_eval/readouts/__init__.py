"""Readouts: what is read of a layer for each trial. To add one, write one function in one file.

A readout is a function of a `LayerView` that returns one value per trial, registered with
`@readout(...)` in a module that `ALL_MODULES` lists.
"""

from importlib import import_module

from model_eval.readouts.registry import READOUTS, Readout, choose_readouts, readout

ALL_MODULES = ("pairs", "object_auc", "widest_path", "spread", "beyond_distance")

for _name in ALL_MODULES:
    import_module(f"model_eval.readouts.{_name}")

__all__ = ["READOUTS", "Readout", "choose_readouts", "readout"]
