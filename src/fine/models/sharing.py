"""Models as folders to give away: weights as safetensors, what is needed to build them, and a card for people.

    model.save_pretrained("my-model")              # model.safetensors, config.json, README.md
    model = FINE.from_pretrained("my-model")       # or the name of a model on the Hugging Face hub, "someone/my-model"
    model.push_to_hub("someone/my-model")

The folder is the one of the hub's own mixin, and the one of the models in fine.pretrained. Nothing is ever unpickled.
"""

import dataclasses
from pathlib import Path
from typing import Any, Self

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
    """A model built as Model(config, channels=…, size=…) that can be saved to a folder, and loaded from one or from the hub."""

    config: Any
    """A dataclass."""
    channels: int
    size: int

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, **options: Any) -> Self:
        """The model in a folder, or the one of this name on the hub, ready to answer.

        Options are those of the hub: revision, cache_dir, local_files_only, token, force_download.
        """
        name = pretrained_model_name_or_path
        folder = Path(name)
        if folder.is_dir():
            config = read_json(folder / "config.json")
            if config.get("format") != FORMAT or not isinstance(config.get("config"), dict):
                raise FineError(
                    f"{folder} is not a folder of an exported model: its config.json has no 'config' of format {FORMAT}; "
                    f"`fine export` makes one of a run folder"
                )
        try:
            return super().from_pretrained(name, **options)
        except HFValidationError:
            raise FineError(f"'{name}' is neither a folder nor a name on the hub: give a folder, or OWNER/NAME") from None
        except (HfHubHTTPError, EntryNotFoundError, OSError) as problem:
            reason = str(problem).strip().splitlines()[0]
            raise FineError(f"the model '{name}' cannot be had from the hub: {reason}") from problem
        except (TypeError, ValueError) as problem:
            raise FineError(f"the config.json of '{name}' cannot be used ({problem}): expected one of format 1") from problem

    @classmethod
    def _from_pretrained(
        cls,
        *,
        model_id: str,
        revision: str | None,
        cache_dir: str | Path | None,
        force_download: bool,
        local_files_only: bool,
        token: str | bool | None,
        map_location: str = "cpu",
        strict: bool = True,
        **model_arguments: Any,
    ) -> Self:
        from fine.runs import load_weights, read_tensors  # late, because runs are about models

        if missing := {"config", "channels", "size"} - model_arguments.keys():
            raise FineError(f"the config.json of '{model_id}' has no {', '.join(sorted(missing))}: it is not a model of fine")
        model: Any = cls(**model_arguments)
        path = Path(model_id) / "model.safetensors"
        if not Path(model_id).is_dir():
            options: Any = {"revision": revision, "cache_dir": cache_dir, "force_download": force_download, "token": token}
            path = Path(hf_hub_download(model_id, path.name, local_files_only=local_files_only, **options))
        load_weights(model, read_tensors(path)[0], path)
        return model.to(map_location).eval()

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
