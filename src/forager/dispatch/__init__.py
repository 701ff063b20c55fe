"""RabbitMQ between the scheduler and the workers: dispatch messages ("hints") that a domain is due, dead letters, queue
depths.

PostgreSQL alone holds what is due and which worker has it. A message only says where to look, so one that is lost,
duplicated, late or out of order changes nothing but the timing. A process that runs without a broker loads none of the
libraries used here.
"""
