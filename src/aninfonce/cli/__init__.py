"""The `aninfonce` command."""


def main() -> None:
    """Run the command line."""
    from aninfonce.cli.app import app

    app()
