"""The parts of the Examination."""

from examination.words import set_translations
from ui.translations import _, ngettext

set_translations(_, ngettext)
