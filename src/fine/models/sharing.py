"""Models as folders to give away: weights as safetensors, what is needed to build them, and a card for people.

    model.save_pretrained("my-model")              # model.safetensors, config.json, README.md
    model = FINE.from_pretrained("my-model")       # or the name of a model on the Hugging Face hub, "someone/my-model"
    model.push_to_hub("someone/my-model")

The folder is the one of the hub's own mixin, and the one of the models in fine.pretrained. Nothing is ever unpickled.
"""

import dataclasses
import warnings
from pathlib import Path
from typing import Any, Self

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # in a notebook without widgets the hub's progress bars say that they will be plain
    from huggingface_hub import ModelCard, PyTorchModelHubMixin, hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError

from fine.errors import FineError
from fine.storage import read_json, write_json

FORMAT = 1
"""Version of the folder's layout."""

CARD = """---
license: mit
library_name: fine
pipeline_tag: image-classification
tags:
- abstract-reasoning
- analogy
---
"""
"""What the hub reads at the top of a card."""


class Shared(PyTorchModelHubMixin, library_name="fine", license="mit"):
    """A FINE that can be saved to a folder, and loaded from one or from the hub."""

    config: Any
    """A FINEConfig."""
    channels: int
    size: int

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, **options: Any) -> Self:
        """The model in a folder, or the one of this name on the hub, ready to answer.

        Options are those of the hub: revision, cache_dir, local_files_only, token, force_download.
        """
        from fine.models import model_config  # late, because both are about models
        from fine.runs import load_weights, read_tensors

        folder = Path(pretrained_model_name_or_path)
        if not folder.is_dir():
            folder = _from_hub(str(pretrained_model_name_or_path), options)
        path = folder / "config.json"
        content = read_json(path)
        if content.get("format") != FORMAT or not isinstance(content.get("config"), dict):
            raise FineError(f"{path} is not that of a FINE to load: expected format {FORMAT}, as `fine export` writes it")
        shape = {key: content.get(key) for key in ("channels", "size")}
        if not all(isinstance(value, int) and value > 0 for value in shape.values()):
            raise FineError(f"{path} gives {shape} for the pictures: expected two whole numbers, such as 1 and 32")
        model: Any = cls(model_config("fine", content["config"]), **shape)
        load_weights(model, read_tensors(folder / "model.safetensors")[0], folder / "model.safetensors")
        return model.eval()

    def _save_pretrained(self, folder: Path) -> None:
        from fine.runs import save_tensors

        model: Any = self
        settings = dataclasses.asdict(self.config)
        write_json(folder / "config.json", {"format": FORMAT, "channels": self.channels, "size": self.size, "config": settings})
        save_tensors(folder / "model.safetensors", model.state_dict())

    def generate_model_card(self, *_: Any, **__: Any) -> ModelCard:
        """A card that says what can be known from the model alone; `fine export` writes one that knows of its training."""
        model: Any = self
        numbers = sum(parameter.numel() for parameter in model.parameters())
        pictures = f"{'grey' if self.channels == 1 else 'colour'} pictures of {self.size} × {self.size}"
        settings = ", ".join(f"{key}={value}" for key, value in dataclasses.asdict(self.config).items())
        return ModelCard(
            f"{CARD}\n# FINE\n\nA Functional Indirection Neural Estimator for {pictures}, {numbers:,} numbers.\n\n"
            f"    model = fine.FINE.from_pretrained(FOLDER)\n\nSettings: {settings}.\n"
        )


def _from_hub(name: str, options: dict[str, Any]) -> Path:
    """The folder that a model of the hub is kept in, downloaded if it is not there yet."""
    try:
        config, _ = (Path(hf_hub_download(name, file, **options)) for file in ("config.json", "model.safetensors"))
    except HFValidationError:
        raise FineError(f"'{name}' is neither a folder nor a name on the hub: give a folder, or OWNER/NAME") from None
    except (HfHubHTTPError, EntryNotFoundError, OSError) as problem:
        reason = next(iter(str(problem).split("\n\n")[-1].strip().splitlines()), type(problem).__name__)
        raise FineError(f"the model '{name}' cannot be had from the hub: {reason}") from problem
    return config.parent
