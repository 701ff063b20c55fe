"""When a person should look: the rules, how long something has to be so, and what became of it."""
