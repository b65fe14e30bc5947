"""Models by name: images (b, 7, channels, size, size) in, four logits (b, 4) out.

    model = make_model("fine", channels=1, size=32)
    register_model("mine", MyModel, MyConfig())     # then `--model mine` works everywhere

paper.py is FINE as published; encoders.py embeds images. fine.py is the default model, on top of
it: memory.py with least_squares.py, orbit.py and low_rank.py, and backbones.py. groups.py puts
slots in groups, surgery.py removes or compresses them; pyramid.py is two of it on two grids.
embedding_functions.py has composed functions as objects, variant_solver.py solves variants with
them. comparison/ has the models that the paper compares with and models since, controls.py and
oracle.py what to measure against. registry.py builds models, weights.py fills them, hub.py shares
them, upgrades.py reads what earlier versions wrote.
"""

from fine.models.comparison.abstractor import Abstractor, AbstractorConfig
from fine.models.comparison.corel_net import CoRelNet, CoRelNetConfig
from fine.models.comparison.dual_attention import DualAttentionConfig, DualAttentionTransformer
from fine.models.comparison.esbn import ESBN, ESBNConfig
from fine.models.comparison.hyper_net import HyperNet, HyperNetConfig
from fine.models.comparison.inlay import InLay, InLayConfig
from fine.models.comparison.predi_net import PrediNet, PrediNetConfig
from fine.models.comparison.relation_net import RelationNet, RelationNetConfig
from fine.models.comparison.transformer import Transformer, TransformerConfig
from fine.models.comparison.vit import ViT, ViTConfig
from fine.models.controls import Control, ControlConfig
from fine.models.fine import FINE, FINEConfig
from fine.models.groups import GroupedFINE, GroupedFINEConfig
from fine.models.paper import FINE as PaperFINE  # noqa: N811 (an acronym, not a constant)
from fine.models.paper import PaperConfig
from fine.models.pyramid import Pyramid, PyramidConfig
from fine.models.registry import (
    MODELS,
    Recipe,
    find_model,
    make_model,
    model_config,
    name_of,
    refuse_giant,
    register_model,
)

__all__ = [
    "MODELS",
    "Recipe",
    "find_model",
    "make_model",
    "model_config",
    "name_of",
    "refuse_giant",
    "register_model",
]

register_model("fine", FINE, FINEConfig())
register_model("fine-grouped", GroupedFINE, GroupedFINEConfig())
register_model("fine-pyramid", Pyramid, PyramidConfig())
register_model("fine-nice", PaperFINE, PaperConfig(backbone="nice"))
register_model("fine-mlp", PaperFINE, PaperConfig(backbone="mlp"))
register_model("esbn", ESBN, ESBNConfig())
register_model("transformer", Transformer, TransformerConfig())
register_model("hyper-net", HyperNet, HyperNetConfig())
register_model("predi-net", PrediNet, PrediNetConfig())
register_model("relation-net", RelationNet, RelationNetConfig())
register_model("corel-net", CoRelNet, CoRelNetConfig())
register_model("abstractor", Abstractor, AbstractorConfig())
register_model("inlay", InLay, InLayConfig())
register_model("dual-attention", DualAttentionTransformer, DualAttentionConfig())
register_model("vit", ViT, ViTConfig())
register_model("blind", Control, ControlConfig())
register_model("object-only", Control, ControlConfig(sees_object=True))
