ALTER TABLE workers ADD COLUMN pause_reason text;
ALTER TABLE workers ADD COLUMN pause_detail text;
ALTER TABLE workers ADD COLUMN paused_since timestamptz;
COMMENT ON COLUMN workers.pause_reason IS 'Why it starts no requests although it could: a fault of our own, such as no_parser, store_unavailable, network_down, database_unavailable; NULL: it is not paused.';
