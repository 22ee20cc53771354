"""The course: the list of pages, the language, the theme, projector mode. Every visitor's session runs this file."""

import streamlit as st

from ui.bring import show_bring
from ui.moved import follow
from ui.navigation import ICON, CoursePage, current_page, open_course
from ui.progress import mark_menu, note_opened
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
            CoursePage("home", _("Home"), ":material/home:"),
            CoursePage("through", _("Through BERT"), ":material/route:"),
            CoursePage("reading", _("Reading the paper"), ":material/menu_book:"),
        ],
        _("1 Input"): [
            CoursePage("tokenization", _("Tokenization"), ":material/content_cut:"),
            CoursePage("input", _("Input"), ":material/input:"),
        ],
        _("2 Model"): [
            CoursePage("attention", _("Attention"), ":material/hub:"),
            CoursePage("encoder_decoder", _("Encoder and decoder"), ":material/swap_horiz:"),
            CoursePage("parameters", _("Parameters"), ":material/calculate:"),
        ],
        _("3 Pre-training"): [
            CoursePage("masking", _("Masking"), ":material/visibility_off:"),
            CoursePage("next_sentence", _("Next sentence"), ":material/swap_vert:"),
            CoursePage("pretraining", _("Pre-training"), ":material/model_training:"),
            CoursePage("experiments", _("The paper’s experiments"), ":material/science:"),
        ],
        _("4 Fine-tuning"): [
            CoursePage("output_layer", _("One output layer"), ":material/category:"),
            CoursePage("features", _("Features or fine-tuning"), ":material/layers:"),
            CoursePage("stability", _("Why runs differ"), ":material/ssid_chart:"),
            CoursePage("training_options", _("What else can be set"), ":material/tune:"),
            CoursePage("service", _("From file to service"), ":material/dns:"),
        ],
        _("5 Looking inside"): [
            CoursePage("attention_explorer", _("Attention explorer"), ":material/travel_explore:"),
            CoursePage("embeddings", _("Embeddings"), ":material/scatter_plot:"),
            CoursePage("probes", _("What each layer knows"), ":material/query_stats:"),
            CoursePage("attribution", _("Why this answer"), ":material/troubleshoot:"),
            CoursePage("wrong_reasons", _("Does it understand?"), ":material/psychology_alt:"),
        ],
        _("6 The family"): [
            CoursePage("family", _("The family tree"), ":material/account_tree:"),
            CoursePage("what_to_hide", _("What to hide"), ":material/hide_source:"),
            CoursePage("ernie2", "ERNIE 2.0", ":material/stacks:"),
            CoursePage("electra", "ELECTRA", ":material/find_replace:"),
            CoursePage("xlnet", "XLNet", ":material/shuffle:"),
            CoursePage("to_write", _("To write"), ":material/edit_note:"),
            CoursePage("albert", "ALBERT", ":material/repeat:"),
            CoursePage("nezha", "NEZHA", ":material/straighten:"),
            CoursePage("knowledge", _("Knowledge"), ":material/lightbulb:"),
            CoursePage("sentence_vectors", _("Sentence vectors"), ":material/manage_search:"),
            CoursePage("cone", _("The cone"), ":material/flare:"),
            CoursePage("smaller", _("Smaller models"), ":material/compress:"),
            CoursePage("few_labels", _("Few labels"), ":material/edit_square:"),
            CoursePage("dialogue", _("Dialogue"), ":material/forum:"),
        ],
        _("7 Practice"): [
            CoursePage("examination", _("The examination"), ":material/quiz:"),
        ],
    },
    beside=[CoursePage("classroom", _("Class"), ":material/groups:")],
    listed=is_teacher(),
)
follow()
language_picker()
projector_switch()
enter(page.url_path)
note_opened(current_page())
mark_menu()
show_bring()
with one_history_entry():
    page.run()
announce_runs()
