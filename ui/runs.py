"""The server's training runs, seen from a page: whose they are, and what this class has trained."""

import hashlib
import os
import secrets
from pathlib import Path

import streamlit as st
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

from ui.navigation import ROOT, link_to
from ui.text import literal
from ui.translations import _, ngettext

_OWNER = "_owner"  # session_state key


@st.cache_resource(show_spinner=False)
def manager():
    """This server's job manager. MINIBERT_RUNS: where runs are kept; MINIBERT_SCHEDULER: a Dask cluster to use."""
    from jobs.manager import Manager

    return Manager(os.environ.get("MINIBERT_RUNS") or ROOT / "runs", scheduler=os.environ.get("MINIBERT_SCHEDULER"))


def owner() -> str:
    """Who a run started here belongs to: this browser, so that its runs are found again after a reload."""
    if _OWNER not in st.session_state:
        # Streamlit gives every browser a random token of its own; its hash names the browser and gives nothing away.
        token, _made = decode_xsrf_token_string(st.context.cookies.get("_streamlit_xsrf") or "")
        st.session_state[_OWNER] = hashlib.sha256(token or secrets.token_bytes(32)).hexdigest()[:32]
    return st.session_state[_OWNER]


def own_finished_runs() -> list:
    """This browser's finished runs that left a model, newest first."""
    if not (Path(os.environ.get("MINIBERT_RUNS") or ROOT / "runs")).is_dir():
        return []
    return [run for run in manager().runs(owner()) if run.state == "finished" and run.result.is_dir()]


def show_runs() -> None:
    """What has been trained on this server: sums for everyone, and one's own runs by name."""
    everyone = [run for run in manager().runs() if run.state == "finished"]
    going = sum(not run.over for run in manager().runs())
    if not everyone and not going:
        with st.container(border=True, key="no-runs"):
            st.markdown(_("**Nothing yet.** The first model is about a minute away."))
            link_to("classification", label=_("Fine-tune the first one"), icon=":material/rocket_launch:")
        return
    steps = sum((run.latest("done") or {}).get("step", 0) for run in everyone)
    best = max((_accuracy(run) for run in everyone if _accuracy(run) is not None), default=None)
    with st.container(horizontal=True, gap="large", key="runs"):
        st.metric(ngettext("model trained", "models trained", len(everyone)), f"{len(everyone):,}", width="content")
        st.metric(_("training now"), f"{going:,}", width="content")
        st.metric(_("optimizer steps"), f"{steps:,}", width="content")
        if best is not None:
            st.metric(_("best dev accuracy"), f"{best:.1%}", width="content")
    own = [run for run in manager().runs(owner()) if run.state == "finished"][:5]
    if own:
        st.markdown(_("**Yours:**") + "\n" + "\n".join(f"- {_describe(run)}" for run in own))
    link_to("classification", label=_("Train another"), icon=":material/rocket_launch:")


def _describe(run) -> str:
    accuracy = _accuracy(run)
    result = "" if accuracy is None else _(" – dev accuracy {accuracy:.1%}").format(accuracy=accuracy)
    return literal(run.title) + result


def _accuracy(run) -> float | None:
    return (run.latest("done") or {}).get("metrics", {}).get("accuracy")
