"""The front door: the server, and what a visitor passes on the way in. Start it with `streamlit run app.py`."""

from starlette.middleware import Middleware
from streamlit import App

from ui.door.closed import Closed
from ui.door.identity import Identity
from ui.door.opening import opening
from ui.door.uploads import Uploads

app = App(
    "course.py",
    lifespan=opening,
    middleware=[Middleware(Closed), Middleware(Identity), Middleware(Uploads)],
)
