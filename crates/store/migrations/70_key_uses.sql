-- When a key was last used, to the minute; null before its first use.
alter table api_keys add column last_used_at bigint;
