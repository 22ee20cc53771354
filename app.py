"""The entry point: the server, and the middleware for each request. Start it with `streamlit run app.py`."""

from starlette.middleware import Middleware
from streamlit import App

from ui.door.closed import Closed
from ui.door.identity import Identity
from ui.door.opening import opening
from ui.door.uploads import Uploads

app = App("course.py", lifespan=opening, middleware=[Middleware(Closed), Middleware(Identity), Middleware(Uploads)])
