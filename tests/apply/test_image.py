"""One image under a map: where its pixels go, in every mode, on every canvas."""

import numpy as np
import pytest
from PIL import Image, ImageFilter, ImageOps

from fine.apply import Settings, apply_map
from fine.errors import FineError
from support.point_maps import (
    MIRROR,
    NegativeRight,
    PointByPoint,
    SwapHalves,
    Wave,
    rotation,
    scale,
    translation,
)

NOISE = np.random.default_rng(0).integers(256, size=(60, 80, 4), dtype=np.uint8)


def smooth(width: int = 80, height: int = 60) -> Image.Image:
    """A colour image without sharp edges, which filters agree on."""
    noise = Image.fromarray(NOISE[..., :3]).filter(ImageFilter.GaussianBlur(4))
    return ImageOps.autocontrast(noise.resize((width, height), Image.Resampling.BICUBIC))


def in_mode(mode: str) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(NOISE[..., 0] * np.uint16(257))
    if mode == "LA":
        return Image.fromarray(NOISE[..., :2], mode=None)
    image = Image.fromarray(NOISE)
    return image if mode == "RGBA" else image.convert("RGB").convert(mode)


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image).astype(float)


def difference(one: Image.Image, other: Image.Image, margin: int = 3) -> float:
    """The mean difference of two images, in levels, without their borders."""
    inner = (slice(margin, -margin), slice(margin, -margin))
    return float(np.abs(pixels(one) - pixels(other))[inner].mean())


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
@pytest.mark.parametrize("resample", ["nearest", "bicubic"])
@pytest.mark.parametrize("by_point", [False, True])
def test_an_image_keeps_its_mode_and_its_size(mode, resample, by_point):
    image = in_mode(mode)
    turn = PointByPoint(rotation(30)) if by_point else rotation(30)
    result = apply_map(image, turn, Settings(resample=resample))
    assert (result.mode, result.size) == (mode, image.size)
    assert len(np.unique(pixels(result))) > 1


@pytest.mark.parametrize("mode", ["L", "RGB", "I;16", "CMYK", "1", "I"])
@pytest.mark.parametrize("by_point", [False, True])
def test_nothing_done_is_nothing_changed(mode, by_point):
    image = in_mode(mode)
    nothing = PointByPoint(rotation(0)) if by_point else rotation(0)
    assert np.array_equal(pixels(apply_map(image, nothing)), pixels(image))


def test_a_palette_becomes_colour_and_keeps_what_is_transparent():
    image = in_mode("RGB").quantize(16)
    assert np.array_equal(pixels(apply_map(image, rotation(0))), pixels(image.convert("RGB")))
    image.info["transparency"] = 3
    result = apply_map(image, rotation(0))
    values, expected = pixels(result), pixels(image.convert("RGBA"))
    visible = expected[..., 3] > 0
    assert np.array_equal(values[..., 3], expected[..., 3])
    assert np.array_equal(values[visible], expected[visible])


@pytest.mark.parametrize("kind", [90, 180, 270, "mirror"])
def test_right_angles_and_mirrors_move_pixels_exactly(kind):
    image = in_mode("RGB")
    point_map = MIRROR if kind == "mirror" else rotation(kind)
    result = apply_map(image, point_map, Settings(canvas="expand"))
    expected = ImageOps.mirror(image) if kind == "mirror" else image.rotate(kind, expand=True)
    assert np.array_equal(pixels(result), pixels(expected))


def test_a_rotation_is_that_of_pillow():
    image = smooth()
    result = apply_map(image, rotation(37.2), Settings(resample="bilinear"))
    expected = image.rotate(37.2, resample=Image.Resampling.BILINEAR)
    assert difference(result, expected, margin=1) < 0.2


@pytest.mark.parametrize("by_point", [False, True])
def test_the_frame_keeps_its_aspect(by_point):
    """What is 0.25 units to the right of the centre is then 0.25 units above it."""
    image = Image.new("L", (200, 100))
    image.paste(255, (123, 48, 127, 52))  # its centre is 25 pixels from that of the image
    turn = PointByPoint(rotation(90)) if by_point else rotation(90)
    result = pixels(apply_map(image, turn))
    rows, columns = np.nonzero(result > 128)
    assert rows.mean() == pytest.approx(50 - 25 - 0.5) and columns.mean() == pytest.approx(99.5)


@pytest.mark.parametrize("resample", ["nearest", "bilinear", "bicubic"])
def test_point_by_point_and_affine_draw_the_same(resample):
    image, settings = smooth(), Settings(resample=resample)
    for point_map in (rotation(12), scale(1.6), translation(0.13, -0.2), scale(0.5)):
        one = apply_map(image, point_map, settings)
        other = apply_map(image, PointByPoint(point_map), settings)
        apart = np.abs(pixels(one) - pixels(other)).mean()
        assert apart < (3.0 if resample == "nearest" else 1.6), point_map


def test_a_wave_moves_every_row_by_its_own_shift():
    image = smooth(200, 200)
    result = pixels(apply_map(image, Wave(0.1, 0.5), Settings(resample="bilinear")))
    for row in (40, 87, 150):
        shift = 10 * np.sin(2 * np.pi / 0.5 * ((row + 0.5 - 100) / 100))  # pixels
        columns = np.arange(30, 170)
        expected = np.stack(
            [np.interp(columns + shift, np.arange(200), pixels(image)[row, :, c]) for c in range(3)]
        )
        assert np.abs(result[row, 30:170].T - expected).max() < 1.01


def test_halves_are_swapped_without_a_seam():
    image = in_mode("RGB")
    result = pixels(apply_map(image, SwapHalves()))
    assert np.array_equal(result, np.roll(pixels(image), 40, axis=1))


@pytest.mark.parametrize("tile", [(7, 11), (64, 64)])
def test_tiles_leave_no_trace(tile, monkeypatch):
    gentle = Wave(0.03, 0.6)  # nowhere so steep that a tile is antialiased
    image, whole = smooth(), apply_map(smooth(), gentle)
    monkeypatch.setattr("fine.apply.remap._TILE", tile)
    monkeypatch.setattr("fine.apply.remap._SPREAD", 0)  # so that they are divided, too
    assert np.abs(pixels(apply_map(image, gentle)) - pixels(whole)).max() <= 1


@pytest.mark.parametrize("by_point", [False, True])
@pytest.mark.parametrize("resample", ["bilinear", "bicubic"])
def test_a_fine_pattern_that_gets_smaller_becomes_grey(by_point, resample):
    stripes = np.zeros((240, 240), dtype=np.uint8)
    stripes[:, ::2] = 255
    point_map = PointByPoint(scale(0.3)) if by_point else scale(0.3)
    settings = Settings(canvas="keep", resample=resample)
    result = pixels(apply_map(Image.fromarray(stripes), point_map, settings))
    middle = result[100:140, 100:140]
    assert abs(middle.mean() - 127.5) < 3 and middle.std() < 12


def test_the_expanded_canvas_has_all_of_the_image():
    image = Image.new("L", (90, 60), 255)
    result = apply_map(image, rotation(30), Settings(canvas="expand"))
    cos, sin = np.cos(np.pi / 6), np.sin(np.pi / 6)
    assert result.size == (np.ceil(90 * cos + 60 * sin), np.ceil(90 * sin + 60 * cos))
    assert (pixels(result) > 128).sum() == pytest.approx(90 * 60, rel=0.01)
    assert apply_map(image, scale(0.5), Settings(canvas="expand")).size == (45, 30)
    moved = apply_map(image, translation(0.2, 0.1), Settings(canvas="expand"))
    assert moved.size == image.size and pixels(moved).min() == 255


def test_the_canvas_of_a_wave_is_found():
    image = Image.new("L", (200, 100), 255)
    result = apply_map(image, Wave(0.1, 0.5), Settings(canvas="expand"))
    assert abs(result.width - 220) <= 3 and abs(result.height - 100) <= 3
    assert (pixels(result) > 128).sum() == pytest.approx(200 * 100, rel=0.02)


@pytest.mark.parametrize("by_point", [False, True])
def test_the_background_has_its_colour_also_in_a_negative(by_point):
    image = Image.new("RGB", (60, 60), (10, 20, 30))
    turn = rotation(45, negative=True)
    turn = PointByPoint(turn) if by_point else turn
    result = apply_map(image, turn, Settings(background="#ff8000"))
    assert result.getpixel((0, 0)) == (255, 128, 0)
    assert result.getpixel((30, 30)) == (245, 235, 225)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGBA", "I;16", "CMYK"])
def test_a_negative_is_of_the_colours_alone(mode):
    image = in_mode(mode)
    result = apply_map(image, rotation(0, negative=True))
    if mode == "CMYK":
        one, other = image.convert("RGB"), result.convert("RGB")
        assert np.abs(pixels(one) + pixels(other) - 255).max() <= 1
        return
    white = {"I;16": 65_535, "1": 1}.get(mode, 255)
    values, negated = pixels(image), pixels(result)
    if mode in ("LA", "RGBA"):
        visible = values[..., -1] == 255  # others lose some colour to the weighting with alpha
        assert np.array_equal(values[..., -1], negated[..., -1])
        values, negated = values[visible][:, :-1], negated[visible][:, :-1]
    assert np.array_equal(values + negated, np.full_like(values, white))


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "I;16"])
def test_a_part_may_become_its_negative(mode):
    image = in_mode(mode)
    if mode == "RGBA":
        image.putalpha(255)
    values, result = pixels(image), pixels(apply_map(image, NegativeRight()))
    assert np.array_equal(result[:, :40], values[:, :40])
    white = 65_535 if mode == "I;16" else 255
    colours = (slice(None), slice(40, None), slice(0, 3)) if values.ndim == 3 else np.s_[:, 40:]
    assert np.array_equal(result[colours], white - values[colours])


def test_what_is_transparent_does_not_seep_into_the_drawing():
    image = Image.new("RGBA", (60, 60), (255, 0, 0, 0))  # an invisible red ground
    image.paste((0, 0, 255, 255), (20, 20, 40, 40))
    for point_map in (rotation(30), PointByPoint(rotation(30))):
        result = pixels(apply_map(image, point_map))
        visible = result[..., 3] > 40
        assert result[visible][:, 0].max() <= 4 and result[visible][:, 2].min() >= 250
        assert result[0, 0, 3] == 0


def test_a_transparent_background_gives_an_image_transparency():
    for mode, expected in (("RGB", "RGBA"), ("L", "LA"), ("1", "LA")):
        result = apply_map(in_mode(mode), rotation(45), Settings(background="transparent"))
        assert result.mode == expected and pixels(result)[0, 0, -1] == 0
    opaque = apply_map(in_mode("RGBA"), rotation(45), Settings(background="white"))
    assert opaque.getpixel((0, 0)) == (255, 255, 255, 255)
    with pytest.raises(FineError, match="mode I;16 cannot be transparent"):
        apply_map(in_mode("I;16"), rotation(45), Settings(background="transparent"))


def test_sixteen_bits_are_kept():
    ramp = np.linspace(0, 65_535, 80 * 60).reshape(60, 80).astype(np.uint16)
    result = apply_map(
        Image.fromarray(ramp), translation(0.5 / 40, 0), Settings(resample="bicubic")
    )
    middle = np.asarray(result).astype(float)[5:-5, 5:-5]
    expected = (ramp[5:-5, 5:-5].astype(float) + ramp[5:-5, 4:-6]) / 2
    assert np.abs(middle - expected).max() <= 1
    white = apply_map(Image.fromarray(ramp), rotation(45), Settings(background="white"))
    assert np.asarray(white)[0, 0] == 65_535


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"canvas": "grow"}, "unknown canvas 'grow': .*keep, expand"),
        ({"resample": "cubic"}, "unknown resample 'cubic'"),
        ({"background": "blurple"}, "background 'blurple' is no colour"),
        ({"background": "#ff000080"}, "half transparent"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(FineError, match=message):
        Settings(**settings)


def test_a_result_of_too_many_pixels_is_refused():
    with pytest.raises(FineError, match="80,000 × 60,000 pixels"):
        apply_map(in_mode("L"), scale(1000), Settings(canvas="expand"))
    with pytest.raises(FineError, match="32 bits a pixel"):
        apply_map(in_mode("F"), rotation(0, negative=True))
    with pytest.raises(FineError, match="mode HSV cannot be drawn"):
        apply_map(in_mode("HSV"), rotation(0))
