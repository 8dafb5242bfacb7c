-- Staged lists that are opened over the API have `staged` 3. Pieces that came, changes since it was opened, who opened
-- it and when.
alter table campaign_lists add column pieces bigint not null default 0;
alter table campaign_lists add column version bigint not null default 0;
alter table campaign_lists add column opened_by text;
alter table campaign_lists add column opened_at bigint;
create index campaign_lists_open on campaign_lists (workspace, campaign, list) where staged = 3;
