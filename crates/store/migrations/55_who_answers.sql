-- Who picked up an outgoing call; null while it is not known, and in calls of a node of the version before.
alter table calls add column answered_by text;
-- Why an agent calls, for assistants that screen calls; empty for none.
alter table agents add column call_reason text not null default '';
