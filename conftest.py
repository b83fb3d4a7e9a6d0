"""Where pytest reads `pytest_plugins`; the plugin under test comes by its entry point."""

pytest_plugins = ("pytester",)
