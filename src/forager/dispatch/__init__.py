"""RabbitMQ between the timetable and the workers: hints that a domain has something to do, dead letters, depths.

PostgreSQL alone knows what there is to do and who does it. A message only says where to look, so one that is lost,
doubled, late or out of order changes nothing but the moment. Who works without a broker does not load any of the
libraries here.
"""
