-- The carrier that calls from a number go out on, by its name in the settings; null for the first one.
alter table numbers add column carrier text;
-- The carrier that a call came in on, or that its own number goes out on; null for the first one.
alter table calls add column carrier text;
