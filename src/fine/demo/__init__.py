"""`fine demo`: a page to play with. Draw an example, change it, draw something else, and see what the model makes of it.

    from fine.demo.app import make_app
    app = make_app(["all-glyphs"])             # an ASGI application; `fine demo` serves it on this machine

It needs fastapi and uvicorn, the extra `demo`. Nothing a visitor sends is ever written to disk.
"""
