-- Dials in a row of a person that the carrier refused before any ring, and how many of a session's were: neither is an attempt.
alter table campaign_rows add column refusals bigint not null default 0;
-- Why a row was given up without a call.
alter table campaign_rows add column failure text;
alter table campaign_runs add column refused bigint not null default 0;
-- How far down the list in force rows that were tried have been held against retry settings that were changed; null when all
-- have been.
alter table campaign_progress add column retune_after bigint;
