"""Encoders: the shape of embeddings, and how they move with the image."""

import pytest
import torch

from fine.errors import FineError
from fine.geometry.d4 import C4, D4
from fine.models.encoders import ENCODERS, halvings, make_encoder
from support.feature_maps import move_features

IMAGE_ENCODERS = [name for name in ENCODERS if name != "strings"]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("size", [32, 28])
@pytest.mark.parametrize("columns", [8, 2, 1])
def test_a_quarter_turn_permutes_the_rows_of_a_p4_embedding(size, columns):
    options = {"channels": 3, "size": size, "embedding_size": 256, "columns": columns}
    encoder = make_encoder("p4-cnn", **options).double().eval()
    image = torch.rand(2, 3, size, size).double()
    embedding = encoder(image)
    # Rows are (channels that share a column) × 2 × 2 places × orientations.
    rows = torch.arange(256 // columns).view(-1, 2, 2, C4.order).permute(0, 3, 1, 2)
    for g in range(1, C4.order):
        moved = encoder(C4.move(g, image))
        permutation = move_features(C4, g, rows).permute(0, 2, 3, 1).flatten()
        torch.testing.assert_close(moved, embedding[:, permutation])
        assert torch.equal(encoder.row_permutations[g], permutation)
        assert not torch.allclose(moved, embedding)


@pytest.mark.parametrize(
    ("size", "places", "depth"), [(32, 4, 0), (32, 8, 0), (28, 4, 0), (28, 7, 0), (32, 8, 2)]
)
def test_moving_an_image_moves_the_places_of_a_p4m_embedding(size, places, depth):
    options = {"channels": 3, "size": size, "embedding_size": places**2 * 6, "columns": 6}
    encoder = make_encoder("p4m-cnn", **options, depth=depth).double().eval()
    image = torch.rand(2, 3, size, size).double()

    def by_place(embedding: torch.Tensor) -> torch.Tensor:  # (b, columns, places, places)
        return embedding.unflatten(1, (places, places)).movedim(3, 1)

    embedding = encoder(image)
    for g in range(D4.order):
        moved = encoder(D4.move(g, image))
        torch.testing.assert_close(by_place(moved), D4.move(g, by_place(embedding)))
        torch.testing.assert_close(moved, embedding[:, encoder.row_permutations[g]])


@pytest.mark.parametrize(("embedding_size", "columns"), [(128, 1), (256, 1), (96, 2)])
def test_channels_of_a_p4m_embedding_may_share_a_column(embedding_size, columns):
    options = {"channels": 1, "size": 32, "embedding_size": embedding_size, "columns": columns}
    encoder = make_encoder("p4m-cnn", **options).double().eval()
    image = torch.rand(2, 1, 32, 32).double()
    embedding = encoder(image)
    assert embedding.shape == (2, embedding_size // columns, columns)
    for g in range(D4.order):
        moved = encoder(D4.move(g, image))
        torch.testing.assert_close(moved, embedding[:, encoder.row_permutations[g]])


@pytest.mark.parametrize("name", IMAGE_ENCODERS)
@pytest.mark.parametrize("size", [32, 28])
@pytest.mark.parametrize("columns", [1, 16])
def test_embeddings_have_the_shape_that_was_asked_for(name, size, columns):
    encoder = make_encoder(name, channels=1, size=size, embedding_size=256, columns=columns)
    assert encoder(torch.rand(5, 1, size, size)).shape == (5, 256 // columns, columns)
    assert (encoder.rows, encoder.columns) == (256 // columns, columns)


def test_the_conv_encoder_has_its_published_size():
    encoder = make_encoder("conv", channels=1, size=32, embedding_size=128, columns=1)
    assert sum(weight.numel() for weight in encoder.parameters()) == 197_600


@pytest.mark.parametrize(
    ("size", "places", "kernels"), [(32, 4, [4, 4, 4]), (28, 4, [4, 4, 3]), (28, 2, [4, 4, 3, 4])]
)
def test_images_are_halved_on_centred_grids(size, places, kernels):
    assert [step["kernel"] for step in halvings(size, places)] == kernels


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("p4cnn", {}, "did you mean 'p4-cnn'"),
        ("p4-cnn", {"columns": 3}, "columns must divide it"),
        ("p4-cnn", {"columns": 128}, "must be a multiple of 2048"),
        ("p4m-cnn", {"embedding_size": 160, "columns": 8}, "should be a square of places"),
        ("p4m-cnn", {"embedding_size": 36 * 4, "columns": 4}, "choose one of 16×16, 8×8, 4×4"),
        ("p4m-cnn", {"embedding_size": 32 * 32 * 2, "columns": 2}, "cannot end on 32×32 places"),
        ("p4-cnn", {"depth": 1}, "does not fit the encoder p4-cnn"),
        ("p4m-cnn", {"depth": -1}, "encoder_depth of -1"),
        ("p4-cnn", {"size": 2}, "images of 2×2 cannot end on 2×2 places"),
        ("strings", {"channels": 3}, "reads grids with 1 channel, not 3"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(name, options, message):
    usual = {"channels": 1, "size": 32, "embedding_size": 256, "columns": 16}
    with pytest.raises(FineError, match=message) as refusal:
        make_encoder(name, **{**usual, **options})
    assert "\n" not in str(refusal.value)
