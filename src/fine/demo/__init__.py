"""`fine demo`, a web page: draw an example, change it, draw something else, see the model's answer.

    from fine.demo.app import make_app
    app = make_app(["all-glyphs"])             # an ASGI application; `fine demo` serves it locally

It needs fastapi and uvicorn, the extra `demo`. Nothing that a visitor sends is written to disk.

app.py puts the server together. play.py, quiz.py, apply.py and catalogue.py hold its endpoints,
messages.py their JSON. models.py passes requests to the models in batches, photos.py draws images
at their own size. page/ holds the page itself.

What visitors may do is limited in four places: connections.py (how many, and how slow), hosts.py
(under which names), guarding.py (how large, and what every answer carries), admission.py (how many
at a time). serving.py starts and ends the server, logs.py keeps its log short.
"""
