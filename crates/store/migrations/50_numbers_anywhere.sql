-- Numbers are looked up by the provider's id in all workspaces: one is bound in one workspace at a time.
create index channel_numbers_anywhere on channel_numbers (phone_number_id);
