-- PostgreSQL took this index to look up the live nudge to a number, and read all live nudges of the workspace each time. No
-- other statement needs it: nudges that are cancelled together are found by their status.
drop index nudges_that_wait;
