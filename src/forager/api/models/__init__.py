"""What answers look like, for the OpenAPI document. Rows go out as they come from the database, so nothing here costs
time when a request is answered; a test holds the rows to these models."""
