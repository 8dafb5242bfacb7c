-- A number is looked up in a list by an expression. Every index that begins with campaign and list could answer otherwise, and
-- PostgreSQL takes any of them while it does not know how long the list has become.
create unique index campaign_row_by_number on campaign_rows ((campaign || ''), list, phone_hash) where valid = 1 and phone_hash is not null;
create index campaign_rows_flagged_by_number on campaign_rows ((campaign || ''), list, phone_hash) where valid = 0 and phone_hash is not null;
drop index campaign_row_of_number;
drop index campaign_rows_flagged;
