-- Wishes to end calls on real lines: each node looks for those that it holds.
create index calls_to_hang_up on calls (hang_up_at) where hang_up_at is not null and phase is null and network is null;
