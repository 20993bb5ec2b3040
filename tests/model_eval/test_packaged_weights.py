"""Weights that packages ship are the right ones, in the right places."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import helper
from PIL import Image

from model_eval.sources.packaged import find_file as find_efficientnet
from model_eval.sources.packaged import load_classifier, load_packaged
from model_eval.sources.saliency import find_file as find_saliency
from model_eval.sources.saliency import load_saliency

# COCO categories that ImageNet knows, and its classes for them.
IMAGENET = {
    "zebra": {340},
    "elephant": {101, 385, 386},
    "bear": {294, 295, 296, 297},
    "cat": set(range(281, 287)),
    "dog": set(range(151, 269)),
    "cow": {345, 346},
    "sheep": {348, 349},
    "airplane": {404, 895},
    "bus": {654, 779, 874},
    "train": {466, 547, 705, 820},
    "bicycle": {444, 671},
    "motorcycle": {665, 670},
    "banana": {954},
    "orange": {950},
    "broccoli": {937},
    "pizza": {963},
    "hot dog": {934},
    "laptop": {620, 681},
    "toilet": {861},
    "tv": {664, 782, 851},
    "microwave": {651},
    "refrigerator": {760},
    "clock": {409, 530, 892},
    "teddy bear": {850},
    "umbrella": {879},
    "couch": {831},
    "parking meter": {704},
}


def iter_crops(shared):
    """Yield (category, crop) of large things."""
    for split in ("train", "val"):
        root = shared / "coco128"
        path = root / f"panoptic_segmentation/annotations/panoptic_{split}2017.json"
        content = json.loads(path.read_text())
        names = {item["id"]: item["name"] for item in content["categories"]}
        files = {item["id"]: item["file_name"] for item in content["images"]}
        for annotation in content["annotations"]:
            picture = None
            for segment in annotation["segments_info"]:
                name = names[segment["category_id"]]
                if name not in IMAGENET or segment["iscrowd"] or segment["area"] < 64 * 64:
                    continue
                if picture is None:
                    file = root / f"images/{split}2017" / files[annotation["image_id"]]
                    picture = Image.open(file).convert("RGB")
                x, y, width, height = segment["bbox"]
                yield name, picture.crop((x, y, x + width, y + height))


@pytest.mark.shared
@pytest.mark.slow
def test_efficientnet_knows_what_is_on_coco_crops(shared):
    """A known answer: with shuffled or misplaced weights it would be at chance, 1 in 200."""
    network = load_classifier(find_efficientnet())
    hits = []
    with torch.inference_mode():
        for name, crop in iter_crops(shared):
            pixels = np.asarray(crop.resize((224, 224), Image.Resampling.BICUBIC), np.float32)
            batch = torch.from_numpy(((pixels - 127) / 128).transpose(2, 0, 1)[None])
            top = network(batch)[0].topk(5).indices.tolist()
            hits.append(bool(IMAGENET[name] & set(top)))
    assert len(hits) > 80
    assert np.mean(hits) > 0.7


def test_efficientnet_s_input_is_127_and_128():
    preprocessing = load_packaged().card.preprocessing
    assert preprocessing is not None
    assert preprocessing.mean[0] * 255 == pytest.approx(127)
    assert preprocessing.sd[0] * 255 == pytest.approx(128)


@pytest.mark.slow
def test_the_saliency_vit_is_the_onnx_graph_to_one_in_ten_thousand(rng):
    path = find_saliency()
    model = onnx.load(str(path))
    name = find_final_norm_output(model.graph)
    model.graph.output.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    batch = rng.normal(size=(1, 3, 224, 224)).astype(np.float32)
    (expected,) = session.run([name], {"input_image": batch})
    with torch.inference_mode():
        found = load_saliency().module.forward_features(torch.from_numpy(batch)).numpy()
    assert found.shape == expected.shape == (1, 257, 384)
    assert np.abs(found - expected).max() < 1e-4


def find_final_norm_output(graph):
    """Name of what the node that adds the final norm's bias gives."""
    (node,) = [node for node in graph.node if "backbone.layernorm.bias" in node.input]
    return node.output[0]
