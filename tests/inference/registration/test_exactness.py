"""What few pixels, borders and bends must not mislead to; pairs like these once did."""

import io
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFont

from fine.geometry.frame import frame_points
from fine.inference.registration import Registered, register
from support.examples import moved, photograph, tensor


def drawing(width: int, height: int, letters: str) -> Image.Image:
    """Two shapes and two letters on white."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    side = min(width, height)
    draw.rectangle([0.22 * width, 0.55 * height, 0.45 * width, 0.75 * height], fill=(60, 90, 150))
    circle = [0.6 * width, 0.2 * height, 0.6 * width + 0.18 * side, 0.4 * height]
    draw.ellipse(circle, fill=(170, 60, 80))
    font = ImageFont.load_default(0.4 * side)
    draw.text((0.3 * width, 0.25 * height), letters, fill=(40, 120, 70), font=font)
    return image


def as_jpeg(image: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(file)


def bent(x: torch.Tensor, sources: np.ndarray) -> torch.Tensor:
    """x read at points in frame units, black beyond its border."""
    height, width = x.shape[1:]
    reach = torch.tensor([width, height]) / max(width, height)
    grid = torch.from_numpy(sources).float() / reach
    return F.grid_sample(x[None], grid[None], mode="bicubic", align_corners=False)[0].clamp(0, 1)


def through_wave(points: np.ndarray, height: float, waves: float) -> np.ndarray:
    result = points.copy()
    result[..., 1] += height / 16 * np.cos(math.pi * waves * points[..., 1])
    return result


def through_affine(points: np.ndarray, linear: list[list[float]], shift: list[float]) -> np.ndarray:
    return (points - np.array(shift)) @ np.linalg.inv(np.array(linear)).T


def apart(found: Registered, wanted: np.ndarray, points: np.ndarray, reach: np.ndarray) -> float:
    """Root mean square distance of the points read, where they are within x."""
    seen = (np.abs(wanted) <= reach).all(-1)
    distance = np.linalg.norm(found.rule.sources(points) - wanted, axis=-1)[seen]
    return float(np.sqrt(np.mean(distance**2)))


@pytest.mark.parametrize("letters", ["G7", "Rk", "45"])
def test_a_stretch_that_is_nearly_a_scaling_is_a_stretch(letters):
    x = drawing(154, 154, letters)
    y = moved(x, [[1 / 0.7239, 0, 0], [0, 1 / 0.7087, 0]])
    found = register([tensor(as_jpeg(x, 92))], [tensor(as_jpeg(y, 92))])
    (rule,) = found.rule.rules
    assert found.sure and rule.family.name == "stretch"
    assert rule.parameters == pytest.approx((0.7239, 0.7087), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("letters", ["Rk", "&5", "PJ"])
def test_a_tiny_drawing_without_averaging_is_scaled_and_not_deformed(letters):
    x = drawing(53, 80, letters)
    y = moved(x, [[1 / 0.585, 0, 0], [0, 1 / 0.585, 0]])
    found = register([tensor(as_jpeg(x, 87))], [tensor(as_jpeg(y, 87))])
    (rule,) = found.rule.rules
    assert rule.family.name == "scale"
    assert rule.parameters[0] == pytest.approx(0.585, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("wave_first", [False, True])
def test_a_wave_with_an_affine_map_is_found_where_the_border_shows(wave_first):
    x = tensor(photograph(137, 91))
    points = frame_points(91, 137, unit=137 / 2)
    linear, shift = [[0.8314, -0.0493], [0.0493, 0.8314]], [-0.0164, 0.0886]

    def sources(at: np.ndarray) -> np.ndarray:
        if wave_first:
            return through_wave(through_affine(at, linear, shift), 1.88, 1.361)
        return through_affine(through_wave(at, 1.88, 1.361), linear, shift)

    found = register([x], [bent(x, sources(points))])
    inner = 0.6 * points[::4, ::4]
    assert found.sure
    assert apart(found, sources(inner), inner, np.array([1, 91 / 137])) <= 0.01


@pytest.mark.slow
def test_a_bend_that_enlarges_a_small_drawing_is_found_with_its_height():
    x = tensor(drawing(92, 138, "Fh"))
    points = frame_points(138, 92, unit=69)
    linear, shift = [[1.1896, 0.1238], [-0.1238, 1.1896]], [-0.0936, -0.0736]

    def sources(at: np.ndarray) -> np.ndarray:
        return through_wave(through_affine(at, linear, shift), 2.557, 1.152)

    found = register([x], [bent(1 - x, sources(points)).neg().add(1)])  # white beyond the border
    inner = 0.6 * points[::4, ::4]
    assert found.sure
    assert apart(found, sources(inner), inner, np.array([92 / 138, 1])) <= 0.01
