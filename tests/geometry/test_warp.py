"""Points are the same at every resolution, and a warp reads images at them."""

import pytest
import torch

from fine.geometry.warp import HALF, pixel_points, sampling_grid, warp


def test_points_are_the_centres_of_pixels_in_an_image_32_units_wide():
    points = pixel_points(32)
    assert points.shape == (32, 32, 2) and points.dtype == torch.float64
    assert points[0, 0].tolist() == [-15.5, -15.5]  # top left
    assert points[0, 31].tolist() == [15.5, -15.5]  # x grows to the right, along a row
    assert points[31, 0].tolist() == [-15.5, 15.5]  # y grows downwards


@pytest.mark.parametrize("size", [1, 28, 64])
def test_an_image_is_as_wide_at_any_resolution(size):
    points = pixel_points(size)
    pixel = 2 * HALF / size
    torch.testing.assert_close(points.sum((0, 1)), torch.zeros(2, dtype=torch.float64))
    assert points.amax() == pytest.approx(HALF - pixel / 2)


def test_reading_at_its_own_points_leaves_an_image_as_it_is():
    images = torch.rand(2, 3, 32, 32)
    grid = sampling_grid(pixel_points(32)).expand(2, -1, -1, -1)
    torch.testing.assert_close(warp(images, grid), images, rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", [32, 64])
def test_reading_further_up_and_left_moves_an_image_down_and_right(size):
    image = torch.rand(1, 1, size, size)
    moved = warp(image, sampling_grid(pixel_points(size) - 3)[None])
    step = 3 * size // 32  # three units in pixels
    inside = image[..., : size - step, : size - step]
    torch.testing.assert_close(moved[..., step:, step:], inside, rtol=0, atol=1e-4)
    assert not moved[..., :step, :].any() and not moved[..., :step].any()  # from outside comes 0


def test_between_pixels_a_warp_is_bilinear():
    image = torch.rand(1, 1, 32, 32)
    between = warp(image, sampling_grid(pixel_points(32) + 0.5)[None])  # half a pixel each way
    mean = torch.nn.functional.avg_pool2d(image, 2, stride=1)
    torch.testing.assert_close(between[..., :31, :31], mean, rtol=0, atol=1e-5)


def test_images_of_a_batch_have_grids_of_their_own():
    images = torch.rand(2, 1, 32, 32)
    grids = sampling_grid(torch.stack((pixel_points(32), pixel_points(32) - 4)))
    both = warp(images, grids)
    for number in range(2):
        alone = warp(images[number : number + 1], grids[number : number + 1])
        assert torch.equal(both[number], alone[0])


def test_what_is_outside_can_be_the_border_instead():
    image = torch.rand(1, 1, 32, 32)
    moved = warp(image, sampling_grid(pixel_points(32) - 3)[None], outside="border")
    torch.testing.assert_close(moved[..., 0, 3:], image[..., 0, :-3], rtol=0, atol=1e-4)
    torch.testing.assert_close(moved[0, 0, 0, :3], image[0, 0, 0, :1].expand(3))
