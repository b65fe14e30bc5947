"""Group convolutions are equivariant: move the image, and the feature map moves with it."""

import pytest
import torch

from fine.errors import FineError
from fine.geometry.d4 import C4, D4
from fine.models.group_convolution import GroupBatchNorm, GroupBias, GroupConv, output_size
from support.feature_maps import move_features

groups = pytest.mark.parametrize("group", [C4, D4], ids=["C4", "D4"])
SHAPES = [(4, 2, 1, 8), (3, 1, 1, 7), (3, 2, 1, 7), (5, 1, 2, 6)]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@groups
@pytest.mark.parametrize(("kernel", "stride", "padding", "size"), SHAPES)
def test_a_convolution_moves_with_the_image(group, kernel, stride, padding, size):
    shape = {"kernel": kernel, "stride": stride, "padding": padding}
    lift = GroupConv(group, channels_in=2, channels_out=3, lifting=True, **shape).double()
    inner = GroupConv(group, channels_in=2, channels_out=3, **shape).double()
    image = torch.rand(2, 2, size, size).double()
    maps = torch.rand(2, 2 * group.order, size, size).double()
    for g in range(group.order):
        expected = move_features(group, g, lift(image))
        torch.testing.assert_close(lift(group.move(g, image)), expected)
        expected = move_features(group, g, inner(maps))
        torch.testing.assert_close(inner(move_features(group, g, maps)), expected)


@groups
def test_a_pooling_convolution_moves_with_the_image_and_has_no_orientations(group):
    shape = {"kernel": 3, "stride": 1, "padding": 1}
    pooled = GroupConv(group, channels_in=2, channels_out=3, pooling=True, **shape).double()
    plain = GroupConv(group, channels_in=2, channels_out=3, **shape).double()
    plain.load_state_dict(pooled.state_dict())
    maps = torch.rand(2, 2 * group.order, 7, 7).double()
    mean = plain(maps).unflatten(1, (group.order, -1)).mean(1)
    torch.testing.assert_close(pooled(maps), mean)
    for g in range(group.order):
        moved = pooled(move_features(group, g, maps))
        torch.testing.assert_close(moved, group.move(g, pooled(maps)))


@groups
@pytest.mark.parametrize("layer", [GroupBatchNorm, GroupBias])
def test_normalisation_and_bias_move_with_the_image(group, layer):
    module, maps = layer(group, 3).double(), torch.rand(5, 3 * group.order, 4, 4).double()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    for g in range(group.order):
        expected = move_features(group, g, module(maps))
        torch.testing.assert_close(module(move_features(group, g, maps)), expected)


def test_normalisation_is_over_all_orientations_of_a_channel():
    maps = torch.rand(5, 4 * 3, 6, 6).double()
    normalised = GroupBatchNorm(C4, 3).double()(maps).unflatten(1, (4, 3))
    torch.testing.assert_close(normalised.mean((0, 1, 3, 4)), torch.zeros(3).double())


def test_a_layer_that_would_not_be_equivariant_is_refused():
    with pytest.raises(FineError, match="multiple of the stride"):
        output_size(32, kernel=3, stride=2, padding=1)
    assert output_size(32, kernel=4, stride=2, padding=1) == 16
