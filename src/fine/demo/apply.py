"""The endpoint of "Your images": a before and an after, and the same done to other images."""

from fastapi import APIRouter

from fine.demo.messages import Applied, DrawnPhoto, Example
from fine.demo.models import Models
from fine.demo.photos import Result, show_once
from fine.inference import RuleFunction


def routes(models: Models) -> APIRouter:
    """The endpoint; the models only lend it a thread."""
    router = APIRouter(prefix="/api")

    @router.post("/apply")
    async def apply(example: Example) -> Applied:
        """The rule behind an example, found on its pixels, and other images under that rule."""
        found, results = await models.long_work(
            show_once, example.before, example.after, example.images, anyway=example.anyway
        )
        return _applied(found, results)

    return router


def _applied(found: RuleFunction, results: list[Result]) -> Applied:
    rule = found.rule
    return Applied(
        rule=str(rule),
        residual=max(0.0, rule.residual),
        explained=rule.explains,
        doubts=[rule.reason] if rule.ambiguous else [],
        canvas=found.canvas,
        background=found.background,
        images=[
            DrawnPhoto(
                image=result.url, width=result.size[0], height=result.size[1], error=result.error
            )
            for result in results
        ],
    )
