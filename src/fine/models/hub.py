"""Models as folders to share: weights as safetensors, what is needed to build them, and a card.

    model.save_pretrained("my-model")              # model.safetensors, config.json, README.md
    model = FINE.from_pretrained("my-model")       # or the name of a model on the Hugging Face hub
    model.push_to_hub("someone/my-model")

The folder is that of the hub's own mixin, and that of the bundled models in fine.pretrained.
Nothing is unpickled. huggingface_hub is imported when the hub is asked for something, because that
takes a third of a second.
"""

import dataclasses
import tempfile
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from fine.errors import FineError
from fine.io.files import read_json, write_json, write_text
from fine.io.tensors import save_tensors
from fine.models.paper import FINE
from fine.models.registry import find_model, name_of
from fine.models.upgrades import upgrade_settings
from fine.models.weights import load_trained

FORMAT = 2
"""Version of the folder's layout. Format 1 has other words for settings (upgrades.py)."""

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


def save_model(model: FINE, folder: Path) -> None:
    """Write the weights and the configuration of a FINE."""
    content = {
        "format": FORMAT,
        "model": name_of(model),
        "channels": model.channels,
        "size": model.size,
        "config": dataclasses.asdict(model.config),
    }
    write_json(folder / "config.json", content)
    save_tensors(folder / "model.safetensors", model.state_dict())


def load_model(folder: Path) -> FINE:
    """The FINE that `save_model` wrote, ready to answer."""
    path, weights = folder / "config.json", folder / "model.safetensors"
    content = read_json(path)
    version: object = content.get("format")
    name: Any = content.get("model", "fine")
    settings: Any = content.get("config")
    named = isinstance(name, str) and isinstance(settings, dict)
    if version not in (1, FORMAT) or not named:
        raise FineError(
            f"{path} is not that of a FINE to load: expected format {FORMAT}, as `fine export` "
            "writes it"
        )
    shape: dict[str, Any] = {key: content.get(key) for key in ("channels", "size")}
    if not all(type(value) is int and value > 0 for value in shape.values()):
        raise FineError(
            f"{path} gives {shape} for the images: expected two whole numbers, such as 1 and 32"
        )
    if version == 1:
        name, settings = upgrade_settings(name, settings)
    if not issubclass(find_model(name).model, FINE):
        raise FineError(f"{path} is that of {name}: expected a FINE, such as fine or fine-nice")
    model = load_trained(name, weights, settings=settings, **shape)
    assert isinstance(model, FINE)
    return model


class HubMixin:
    """A FINE that can be saved to a folder, and loaded from one or from the hub."""

    config: Any
    channels: int
    size: int

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, **options: Any) -> Any:
        """The model in a folder, or the one of this name on the hub, ready to answer.

        Options are those of the hub: revision, cache_dir, local_files_only, token, force_download.
        """
        folder = Path(pretrained_model_name_or_path)
        if not _is_folder(folder):
            folder = _from_hub(str(pretrained_model_name_or_path), options)
        return load_model(folder)

    def save_pretrained(self, save_directory: str | Path) -> None:
        """Write weights, configuration and a card to a folder; a card that is there is kept."""
        model: Any = self
        folder = Path(save_directory)
        save_model(model, folder)
        if not (folder / "README.md").exists():
            write_text(folder / "README.md", self._card())

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool | None = None,
        token: str | None = None,
        **options: Any,
    ) -> str:
        """Put the model on the hub as OWNER/NAME; returns the address of the commit.

        Options are those of `HfApi.upload_folder`, such as commit_message or create_pr.
        """
        api = _hub().HfApi(token=token)
        name = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
        with tempfile.TemporaryDirectory() as folder:
            self.save_pretrained(folder)
            commit = api.upload_folder(repo_id=name, folder_path=folder, **options)
        return str(commit.commit_url)

    def _card(self) -> str:
        """A card with the model's settings; that of `fine export` also describes its training."""
        model: Any = self
        numbers = sum(parameter.numel() for parameter in model.parameters())
        colours = "grey" if self.channels == 1 else "colour"
        images = f"{colours} images of {self.size} × {self.size}"
        settings = dataclasses.asdict(self.config)
        listed = ", ".join(f"{key}={value}" for key, value in settings.items())
        return (
            f"{CARD}\n# FINE\n\nA Functional Indirection Neural Estimator for {images}, "
            f"{numbers:,} numbers.\n\n    model = fine.FINE.from_pretrained(FOLDER)\n\n"
            f"Settings: {listed}.\n"
        )


def _hub() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of notebooks without widgets, for its progress bars
        import huggingface_hub  # noqa: PLC0415  # slow, and few ask the hub for anything
        import huggingface_hub.errors  # noqa: PLC0415
    return huggingface_hub


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name too long for a file
        return False


def _from_hub(name: str, options: dict[str, Any]) -> Path:
    """The local folder of a model on the hub, downloaded if it is not there yet."""
    hub = _hub()
    try:
        for file in ("config.json", "model.safetensors"):
            folder = Path(hub.hf_hub_download(name, file, **options)).parent
    except hub.errors.HFValidationError:
        raise FineError(
            f"'{name}' is neither a folder nor a name on the hub: give a folder, or OWNER/NAME"
        ) from None
    except (hub.errors.HfHubHTTPError, hub.errors.EntryNotFoundError, OSError) as problem:
        last = str(problem).split("\n\n")[-1].strip()
        reason = next(iter(last.splitlines()), type(problem).__name__)
        raise FineError(f"the model '{name}' cannot be loaded from the hub: {reason}") from problem
    return folder
