-- The trace that asked for what a row stands for, as `traceparent` writes it; null when nobody traces, and in the rows of a
-- node of the version before.
alter table events add column trace text;
alter table nudges add column trace text;
alter table calls add column trace text;
alter table scheduled_calls add column trace text;
