"""Before the pages: what the server does with a request, and with a visitor who comes or has gone."""
