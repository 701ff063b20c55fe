"""What goes wrong with a broker, in a sentence for people."""

from forager.errors import UserError


class BrokerUnavailableError(UserError):
    """It does not answer, or refuses. Nothing is lost by it: what is to be done is in the database."""
