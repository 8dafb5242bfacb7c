-- The earlier records of a stream that are still to be put on the list of a campaign: from the first of them to the last;
-- null when none are.
alter table stream_campaigns add column backfill_from text;
alter table stream_campaigns add column backfill_until text;
-- Grows each time the stream is attached: what an earlier request began goes on no more.
alter table stream_campaigns add column backfill_run bigint not null default 0;
-- When somebody last worked at it: whoever began it may be gone.
alter table stream_campaigns add column backfill_at bigint;
create index stream_campaigns_backfilled on stream_campaigns (backfill_at) where backfill_from is not null;
