"""Rules applied to batches: any mixture of rules, at any resolution."""

import torch
import torch.nn.functional as F

from fine.geometry.warp import HALF, pixel_points
from fine.rules import Warp, negative_mask, rule_set, source_points
from support.rules import under


def random_images(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0))


def test_a_mixed_batch_gives_what_single_images_give():
    rules = rule_set("patchwork+all")
    warp = Warp(rules, size=28)
    images = random_images(len(rules), 3, 28, 28)
    together = warp(images, torch.arange(len(rules)))
    for number in range(0, len(rules), 17):
        single = warp(images[number : number + 1], torch.tensor([number]))
        torch.testing.assert_close(together[number : number + 1], single)


def test_the_same_rule_is_the_same_at_another_resolution():
    smooth = F.interpolate(random_images(1, 1, 4, 4), size=64, mode="bicubic")
    coarse = F.avg_pool2d(smooth, 2)
    fine = F.avg_pool2d(under("rotation", smooth, 30), 2)
    inside = (slice(None), slice(None), slice(8, 24), slice(8, 24))
    assert (fine - under("rotation", coarse, 30))[inside].abs().max() < 0.05


def test_what_lies_outside_the_image_is_black():
    white = torch.ones(1, 1, 32, 32)
    assert under("translation", white, 9, 9)[..., :8, :].max() == 0


def test_rules_are_written_in_units_of_an_image_32_wide():
    rule = rule_set("translation").rules[-1]  # 9 units to the right and down
    for size in (32, 28, 512):
        moved = pixel_points(size) - source_points(rule, size)
        torch.testing.assert_close(moved, torch.full_like(moved, 9.0))
        assert pixel_points(size).abs().max() == HALF - HALF / size


def test_only_rules_that_say_so_invert_brightness():
    inverting = {
        rule.family.name for rule in rule_set("all").rules if negative_mask(rule, 32).any()
    }
    assert inverting == {"black-white"}
