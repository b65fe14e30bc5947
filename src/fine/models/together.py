"""Batch normalisation over the whole batch, when several processes each have a share of it.

    normalise_together(model)      # in every process, before training; names and numbers of the model stay as they are

torch has this for GPUs only. Here it is a few lines, for whatever the processes talk over.
"""

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.modules.batchnorm import _BatchNorm


def normalise_together(model: nn.Module) -> None:
    """Let every batch normalisation in a model take its mean and variance from the shares of all processes."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, _BatchNorm):
                setattr(module, name, BatchNormTogether(child))


class BatchNormTogether(nn.Module):
    """A batch normalisation, with its own weights and running statistics, that looks at the batch of all processes."""

    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(self, alone: _BatchNorm):
        super().__init__()
        self.eps, self.momentum, self.training = alone.eps, alone.momentum, alone.training
        self.weight, self.bias = alone.weight, alone.bias
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            self.register_buffer(name, getattr(alone, name))

    def forward(self, maps: Tensor) -> Tensor:  # (b, channels, …), the same out
        if not self.training:  # each process by itself: they need not be shown equally many batches
            statistics = (self.running_mean, self.running_var)
            return F.batch_norm(maps, *statistics, self.weight, self.bias, self.running_mean is None, eps=self.eps)
        normed, mean, variance, count = _Normalise.apply(maps, self.weight, self.bias, self.eps)  # type: ignore[no-untyped-call]
        if self.running_mean is not None:
            self._remember(mean, variance * (count / (count - 1)))
        return normed

    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        share = 1 / self.num_batches_tracked if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean), share)
        self.running_var.lerp_(variance.to(self.running_var), share)


class _Normalise(torch.autograd.Function):
    """Every channel with the mean and variance it has in all processes, which exchange a few numbers once each way."""

    @staticmethod
    def forward(ctx: Any, maps: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> tuple[Tensor, ...]:
        mean, variance, count = _statistics(maps)
        ctx.save_for_backward(maps, weight, mean, (variance + eps).rsqrt(), count)
        ctx.mark_non_differentiable(mean, variance, count)
        return F.batch_norm(maps, mean, variance, weight, bias, eps=eps), mean, variance, count

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        maps, weight, mean, scale, count = ctx.saved_tensors
        others = [dim for dim in range(maps.dim()) if dim != 1]
        along = (1, -1, *(1 for _ in others[1:]))  # a number a channel, beside the maps
        standard = (maps - mean.view(along)) * scale.view(along)
        of_bias, of_weight = gradient.sum(others), (gradient * standard).sum(others)
        both = torch.stack((of_bias, of_weight))  # those of a share; the trainer adds up what is the weights' own
        dist.all_reduce(both)
        shift, stretch = (both / count).view(2, *along)
        factor = scale if weight is None else scale * weight
        of_maps = (gradient - shift - standard * stretch) * factor.view(along)
        return of_maps, None if weight is None else of_weight, None if weight is None else of_bias, None


def _statistics(maps: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (b, channels, …) -> (channels,), (channels,), (1,)
    """Mean, variance and count of every channel over all processes, put together from those of their shares."""
    variance, mean = torch.var_mean(maps, dim=[dim for dim in range(maps.dim()) if dim != 1], correction=0)
    mine = torch.stack((mean, variance, torch.full_like(mean, maps.numel() / maps.shape[1])))
    shares = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(shares, mine)
    means, variances, counts = torch.stack(shares, dim=1)  # each (processes, channels)
    count = counts.sum(0)
    mean = (counts * means).sum(0) / count
    # Not as a mean of squares less a squared mean, which rounds away what small variances are about.
    variance = (counts * (variances + (means - mean).square())).sum(0) / count
    return mean, variance, count[:1]
