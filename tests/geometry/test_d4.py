"""The symmetries of the square are a group, and they act on images and feature maps as one."""

import pytest
import torch

from fine.geometry.d4 import C4, D4

groups = pytest.mark.parametrize("group", [C4, D4], ids=["C4", "D4"])


@groups
def test_all_elements_are_different(group):
    image = torch.rand(5, 5)
    moved = {tuple(group.move(g, image).flatten().tolist()) for g in range(group.order)}
    assert len(moved) == group.order == (8 if group.mirrors else 4)


@groups
def test_to_compose_is_to_move_twice(group):
    image = torch.rand(2, 5, 5)
    for first in range(group.order):
        for then in range(group.order):
            twice = group.move(then, group.move(first, image))
            assert torch.equal(group.move(group.compose(first, then), image), twice)


@groups
def test_an_inverse_moves_back(group):
    image = torch.rand(2, 5, 5)
    for g in range(group.order):
        assert torch.equal(group.move(group.inverse(g), group.move(g, image)), image)
        assert group.compose(g, group.inverse(g)) == group.compose(group.inverse(g), g) == 0


def test_element_1_rotates_counter_clockwise_and_element_4_mirrors_left_and_right():
    image = torch.tensor([[1, 2], [3, 4]])
    assert D4.move(1, image).tolist() == [[2, 4], [1, 3]]
    assert D4.move(4, image).tolist() == [[2, 1], [4, 3]]
    assert D4.move(5, image).tolist() == [[1, 3], [2, 4]]  # mirrored, then rotated


def test_each_image_is_moved_by_its_own_element():
    images = torch.rand(8, 2, 3, 5, 5)
    elements = torch.arange(16).view(8, 2) % 8
    moved = D4.move_each(images, elements)
    for place in torch.cartesian_prod(torch.arange(8), torch.arange(2)).tolist():
        expected = D4.move(int(elements[tuple(place)]), images[tuple(place)])
        assert torch.equal(moved[tuple(place)], expected)
    assert torch.equal(D4.move_each(images, torch.zeros(8, 2, dtype=torch.long)), images)


@groups
def test_permutations_of_pixels_move_images(group):
    image, permutations = torch.rand(5, 5), group.pixel_permutations(5)
    for g in range(group.order):
        assert torch.equal(image.flatten()[permutations[g]].view(5, 5), group.move(g, image))


@groups
def test_permutations_of_features_move_maps_and_their_orientations(group):
    maps, permutations = torch.rand(group.order, 5, 5), group.feature_permutations(5)
    for g in range(group.order):
        moved = maps.flatten()[permutations[g]].view_as(maps)
        for orientation in range(group.order):
            shown = moved[group.compose(orientation, g)]
            assert torch.equal(shown, group.move(g, maps[orientation]))
