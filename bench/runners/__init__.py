"""One module per crawler: how it is started and where its result is found. Nothing here crawls."""
