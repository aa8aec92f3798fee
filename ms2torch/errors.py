"""The one error that a user is meant to see."""


class UserError(Exception):
    """Bad usage or input: its text is one clear line with the mend; the command ends with exit code 2."""

    def __str__(self) -> str:
        """The message on one line, whatever whitespace its parts brought along."""
        return " ".join(super().__str__().split())
