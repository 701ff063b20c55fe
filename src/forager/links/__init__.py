"""Select: from the links a page wrote to the links worth knowing. Pure; never touches the network or the database."""
