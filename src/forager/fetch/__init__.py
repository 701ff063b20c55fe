"""Get: one request, one answer or one typed error. No other room opens HTTP connections to the outside."""
