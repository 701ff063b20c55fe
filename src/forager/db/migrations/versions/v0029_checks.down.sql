DROP TABLE checks;
