"""Server code outside the pages: ASGI middleware, visitor cookies, uploads, start-up and shutdown."""
