-- How the law regulates the entity of a workspace, and its id in the registers of senders (DLT).
alter table workspaces add column regulated_as text not null default 'undeclared';
alter table workspaces add column dlt_entity_id text;
-- The kind of commercial communication that the calls of an agent are.
alter table agents add column communication text not null default 'service';
-- Whether the disclosure of the pack was said in a call (JSON); null where none was required or could be heard.
alter table calls add column disclosure text;
create index decision_log_disclosures on decision_log (workspace, at) where outcome in ('disclosure_kept', 'disclosure_missed');
