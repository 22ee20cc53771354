"""The parts of the Examination."""

from examination.words import speak
from ui.translations import _, ngettext

speak(_, ngettext)
