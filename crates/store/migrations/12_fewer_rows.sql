-- A dial wrote rows that say nothing of their own. The calls of a nudge name it; those that a gate refused are no attempts.
create index calls_of_nudge on calls (nudge, id) where nudge is not null and block_reason is null;
drop table nudge_attempts;
-- What a call holds of the wallet is its price, as long as it is on its line.
drop table wallet_holds;
-- 1 until it is finished. Indexes whose condition named the status had their entries taken out and put in again with each of its changes.
alter table nudges add column open bigint;
update nudges set open = 1 where status <> 'finished';
drop index nudges_of_key;
create index nudges_of_key on nudges (api_key, id) where open = 1;
drop index one_live_nudge_per_number;
create unique index one_live_nudge_per_number on nudges (workspace, mode, to_number) where to_number is not null and open = 1;
drop index nudges_without_line;
create index nudges_without_line on nudges (workspace, mode, status_reason, id) where status_reason = 'concurrency_full' and open = 1;
drop index nudges_that_wait;
create index nudges_that_wait on nudges (workspace, mode, id) where open = 1;
-- Indexes that others stand in for: live calls are the ones on lines, a page of people of both worlds is one of each, and moments never go back along a chain.
drop index calls_on_lines;
drop index contacts_of_workspace;
drop index decision_log_by_time;
