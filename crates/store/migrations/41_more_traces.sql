-- The trace of the request that published a campaign, and of what asked for a message; null when nobody traces, and in the rows
-- of a node of the version before.
alter table campaigns add column trace text;
alter table channel_messages add column trace text;
