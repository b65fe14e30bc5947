"""Controls: what they may not see does not change what they answer."""

import pytest
import torch

from fine.errors import FineError
from fine.models import make_model


@pytest.mark.parametrize(("name", "hidden"), [("blind", [0, 1, 2]), ("object-only", [0, 1])])
def test_a_control_does_not_see_what_it_must_not(name, hidden):
    torch.manual_seed(0)
    model = make_model(name, channels=1, size=32).eval()
    images = torch.rand(3, 7, 1, 32, 32)
    changed = images.clone()
    changed[:, hidden] = torch.rand(3, len(hidden), 1, 32, 32)
    assert torch.equal(model(changed), model(images))


def test_object_only_sees_the_new_image():
    torch.manual_seed(0)
    model = make_model("object-only", channels=1, size=32).eval()
    images = torch.rand(3, 7, 1, 32, 32)
    changed = images.clone()
    changed[:, 2] = 1 - images[:, 2]
    assert not torch.allclose(model(changed), model(images))


def test_impossible_settings_are_refused():
    with pytest.raises(FineError, match="hidden is 0: give at least 1"):
        make_model("blind", channels=1, size=32, settings={"hidden": 0})
