"""The number of threads is set for a while, and back whatever happens."""

import pytest
import torch

from fine.threads import using_threads


def test_the_number_of_threads_is_set_and_restored():
    before = torch.get_num_threads()
    with using_threads(before + 1):
        assert torch.get_num_threads() == before + 1
        with pytest.raises(ValueError, match="on purpose"), using_threads(1):
            raise ValueError("on purpose")
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


def test_a_function_can_be_run_with_a_number_of_threads():
    before = torch.get_num_threads()
    assert using_threads(before + 2)(torch.get_num_threads)() == before + 2
    assert torch.get_num_threads() == before
