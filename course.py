"""The course: the list of pages, the language, the theme, projector mode. Every visitor's session runs this file."""

import streamlit as st

from ui.model_cache import warm_up
from ui.navigation import ICON, Stop, open_course
from ui.projector import projecting, projector_switch
from ui.room.entrance import enter, is_teacher
from ui.runs import announce_runs
from ui.state import one_history_entry
from ui.translations import _, language_picker

st.set_page_config(
    page_title=_("minibert – a classroom for BERT"),
    page_icon=ICON,
    layout="wide",
    initial_sidebar_state="collapsed" if projecting() else 270,
    menu_items={"About": _("**minibert**: a classroom for BERT. Everything runs on this computer.")},  # and the theme
)

# In teaching order. A page that is not there yet is left out of the menu.
page = open_course(
    {
        _("Start"): [
            Stop("home", _("Home"), ":material/home:"),
            Stop("through", _("Through BERT"), ":material/route:"),
        ],
        _("1 Input"): [
            Stop("tokenization", _("Tokenization"), ":material/content_cut:"),
            Stop("input", _("Input"), ":material/input:"),
        ],
        _("2 Model"): [
            Stop("attention", _("Attention"), ":material/hub:"),
            Stop("encoder_decoder", _("Encoder and decoder"), ":material/swap_horiz:"),
            Stop("parameters", _("Parameters"), ":material/calculate:"),
        ],
        _("3 Pre-training"): [
            Stop("masking", _("Masking"), ":material/visibility_off:"),
            Stop("next_sentence", _("Next sentence"), ":material/swap_vert:"),
            Stop("pretraining", _("Pre-training"), ":material/model_training:"),
            Stop("experiments", _("The paper’s experiments"), ":material/science:"),
        ],
        _("4 Fine-tuning"): [
            Stop("output_layer", _("One output layer"), ":material/category:"),
            Stop("features", _("Features or fine-tuning"), ":material/layers:"),
            Stop("stability", _("Why runs differ"), ":material/ssid_chart:"),
            Stop("training_options", _("What else can be set"), ":material/tune:"),
            Stop("service", _("From file to service"), ":material/dns:"),
        ],
        _("5 Looking inside"): [
            Stop("attention_explorer", _("Attention explorer"), ":material/travel_explore:"),
            Stop("embeddings", _("Embeddings"), ":material/scatter_plot:"),
            Stop("probes", _("What each layer knows"), ":material/query_stats:"),
            Stop("attribution", _("Why this answer"), ":material/troubleshoot:"),
            Stop("wrong_reasons", _("Does it understand?"), ":material/psychology_alt:"),
        ],
        _("6 The family"): [
            Stop("family", _("The family tree"), ":material/account_tree:"),
            Stop("what_to_hide", _("What to hide"), ":material/hide_source:"),
            Stop("electra", "ELECTRA", ":material/find_replace:"),
            Stop("xlnet", "XLNet", ":material/shuffle:"),
            Stop("to_write", _("To write"), ":material/edit_note:"),
            Stop("albert", "ALBERT", ":material/repeat:"),
            Stop("nezha", "NEZHA", ":material/straighten:"),
            Stop("knowledge", _("Knowledge"), ":material/lightbulb:"),
            Stop("sentence_vectors", _("Sentence vectors"), ":material/manage_search:"),
            Stop("cone", _("The cone"), ":material/flare:"),
            Stop("smaller", _("Smaller models"), ":material/compress:"),
            Stop("few_labels", _("Few labels"), ":material/edit_square:"),
            Stop("dialogue", _("Dialogue"), ":material/forum:"),
        ],
        _("7 Practice"): [
            Stop("examination", _("The examination"), ":material/quiz:"),
        ],
    },
    beside=[Stop("classroom", _("Class"), ":material/groups:")],
    listed=is_teacher(),
)
language_picker()
projector_switch()
enter(page.url_path)
with one_history_entry():
    page.run()
announce_runs()
warm_up(page.url_path)
