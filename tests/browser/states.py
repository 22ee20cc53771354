"""States of pages that only a link opens, for tests/browser/test_form.py: page, what stands in its link."""

STATES = []
