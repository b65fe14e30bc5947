"""Batch normalisation over the whole batch when several processes each have a share of it.

    convert_sync_batchnorm(model)    # in every process, before training; weights keep their names

`torch.nn.SyncBatchNorm` is for GPUs only; this one works wherever the processes can exchange
tensors.
"""

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.modules.batchnorm import _BatchNorm


def convert_sync_batchnorm(model: nn.Module) -> None:
    """Replace every batch normalisation in a model by one over the shares of all processes."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, _BatchNorm):
                setattr(module, name, SyncBatchNorm(child))


class SyncBatchNorm(nn.Module):
    """A batch normalisation whose mean and variance are those of the batch of all processes."""

    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(self, local: _BatchNorm):
        super().__init__()
        self.eps, self.momentum, self.training = local.eps, local.momentum, local.training
        self.weight, self.bias = local.weight, local.bias
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            self.register_buffer(name, getattr(local, name))

    def forward(self, maps: Tensor) -> Tensor:  # (b, channels, …), the same out
        if not self.training:  # no exchange: processes may be shown different numbers of batches
            return F.batch_norm(
                maps,
                self.running_mean,
                self.running_var,
                self.weight,
                self.bias,
                training=self.running_mean is None,
                eps=self.eps,
            )
        outputs = _Normalise.apply(maps, self.weight, self.bias, self.eps)  # type: ignore[no-untyped-call]
        normalised, mean, variance, count = outputs
        if self.running_mean is not None:
            self._update_running(mean, variance * (count / (count - 1)))
        return normalised

    def _update_running(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        share = 1 / self.num_batches_tracked if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean), share)
        self.running_var.lerp_(variance.to(self.running_var), share)


class _Normalise(torch.autograd.Function):
    """Normalises every channel over all processes, with one small exchange in each direction."""

    @staticmethod
    def forward(
        ctx: Any, maps: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
    ) -> tuple[Tensor, ...]:
        mean, variance, count = _statistics(maps)
        ctx.save_for_backward(maps, weight, mean, (variance + eps).rsqrt(), count)
        ctx.mark_non_differentiable(mean, variance, count)
        normalised = F.batch_norm(maps, mean, variance, weight, bias, eps=eps)
        return normalised, mean, variance, count

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        maps, weight, mean, scale, count = ctx.saved_tensors
        others = _all_but_channels(maps)
        per_channel = (1, -1, *(1 for _ in others[1:]))  # the shape of one number a channel
        standard = (maps - mean.view(per_channel)) * scale.view(per_channel)
        of_bias = gradient.sum(others)
        of_weight = (gradient * standard).sum(others)
        # The sums over all processes are for the maps; the trainer sums those of weight and bias.
        sums = torch.stack((of_bias, of_weight))
        dist.all_reduce(sums)
        shift, stretch = (sums / count).view(2, *per_channel)
        factor = scale if weight is None else scale * weight
        of_maps = (gradient - shift - standard * stretch) * factor.view(per_channel)
        if weight is None:
            return of_maps, None, None, None
        return of_maps, of_weight, of_bias, None


def _statistics(maps: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # -> (channels,), (channels,), (1,)
    """Mean, variance and count of every channel over all processes."""
    variance, mean = torch.var_mean(maps, dim=_all_but_channels(maps), correction=0)
    mine = torch.stack((mean, variance, torch.full_like(mean, maps.numel() / maps.shape[1])))
    shares = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(shares, mine)
    means, variances, counts = torch.stack(shares, dim=1)  # each (processes, channels)
    count = counts.sum(0)
    mean = (counts * means).sum(0) / count
    # Not the mean of squares minus the squared mean: that rounds small variances away.
    variance = (counts * (variances + (means - mean).square())).sum(0) / count
    return mean, variance, count[:1]


def _all_but_channels(maps: Tensor) -> list[int]:
    return [dim for dim in range(maps.dim()) if dim != 1]
