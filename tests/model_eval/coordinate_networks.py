"""Networks whose token says where its patch lies, in several token layouts."""

from timm.models.vision_transformer import VisionTransformer
from torch import nn
from torch.nn import functional
from torch.nn.init import constant_, zeros_

from model_eval.backbone import TimmBackbone, describe_network

CONFIG = {
    "mean": (0.0, 0.0, 0.0),
    "std": (1 / 255,) * 3,
    "interpolation": "nearest",
    "input_size": (3, 64, 64),
}

# Name, and what VisionTransformer needs for it.
LAYOUTS = {
    "no prefix": {"class_token": False, "global_pool": "avg"},
    "CLS": {},
    "CLS and distillation": {"reg_tokens": 1},
    "CLS and 4 registers": {"reg_tokens": 4},
    "4 registers, no CLS": {"class_token": False, "reg_tokens": 4, "global_pool": "avg"},
    "position without prefix": {"reg_tokens": 4, "no_embed_class": True},
}


class AveragingCNN(nn.Module):
    """Two stages: averages over 4x4, then over 8x8 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.feature_info = [{"reduction": 4}, {"reduction": 8}]

    def forward_intermediates(self, x, indices, **_settings):
        return [functional.avg_pool2d(x, 4 * 2**k) for k in indices]


def make_coordinate_vit(patch_px: int, **layout) -> VisionTransformer:
    """Return a ViT of one block that hands the patch's mean colour through unchanged."""
    vit = VisionTransformer(
        img_size=patch_px * 4,
        patch_size=patch_px,
        embed_dim=12,
        depth=2,
        num_heads=2,
        num_classes=0,
        dynamic_img_size=True,
        **layout,
    )
    for parameter in vit.parameters():
        zeros_(parameter)
    for channel in range(3):
        constant_(vit.patch_embed.proj.weight[channel, channel].detach(), 1 / patch_px**2)
    return vit


def make_backbone(layout: str, *, patch_px: int = 8, is_fixed: bool = False) -> TimmBackbone:
    """Return a coordinate network of a layout, or the CNN."""
    is_cnn = layout == "CNN"
    module = AveragingCNN() if is_cnn else make_coordinate_vit(patch_px, **LAYOUTS[layout])
    card = describe_network(module, name=layout, source="test", config=CONFIG, is_fixed=is_fixed)
    return TimmBackbone(module, card)
