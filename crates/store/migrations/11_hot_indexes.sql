-- A change of a column moves entries in every index that names it, in its columns or its condition. These two named columns that change several times
-- in the life of a row, without need.
-- A refused dial has its gate from the start and for good.
drop index dials_to_number;
create index dials_to_number on calls (workspace, to_number, started_at) where mode = 'live' and block_reason is null;
-- Those in flight are few, and passed over.
drop index nudges_that_wait;
create index nudges_that_wait on nudges (workspace, mode, id) where status in ('queued', 'scheduled');
