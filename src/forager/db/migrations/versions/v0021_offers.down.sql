DROP TABLE queue_depths;
DROP TABLE offers;
