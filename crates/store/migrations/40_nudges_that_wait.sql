-- An index too many: for the live nudge to a number PostgreSQL took it, and read all that wait. Those that are cancelled
-- together are found by their status.
drop index nudges_that_wait;
