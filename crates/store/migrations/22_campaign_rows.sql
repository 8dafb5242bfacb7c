-- An index over the numbers of all lists made each import twice as dear as it had to be, for erasures alone. They
-- look into each list instead; rows that are not valid have an index of their own for it.
drop index campaign_rows_of_person;
create index campaign_rows_flagged on campaign_rows (campaign, list, phone_hash) where valid = 0 and phone_hash is not null;
