"""Broker errors, with messages for the operator."""

from forager.errors import UserError


class BrokerUnavailableError(UserError):
    """The broker does not respond, or rejects the request. Nothing is lost: what is due is in the database."""
