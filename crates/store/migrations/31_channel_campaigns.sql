-- What a campaign on the messaging channel has beside the settings of every campaign: one row each, locked after the
-- campaign itself.
create table channel_campaigns (
    campaign text primary key,
    workspace text not null references workspaces (id),
    template text not null,
    -- JSON: where each value of the template comes from.
    param_mapping text not null,
    -- require, skip_check
    opt_in_policy text not null,
    -- The provider's id of the number that was asked for; null for the default one.
    phone_number_id text,
    -- The same of the number that it sends from since it was published last.
    sends_from text,
    rate bigint not null,
    paused_reason text,
    -- The category of the template when it was published last.
    category text,
    -- 1: it sends although the quality of its number is RED.
    quality_accepted bigint not null,
    -- 1: its template became marketing, and whoever has opted in receives it.
    marketing_accepted bigint not null,
    launched_at bigint,
    finished_at bigint,
    -- How far its pace is used up, microseconds.
    used bigint not null,
    -- When it hands over the next messages; null while there is nothing to do.
    next_at bigint,
    -- Outcomes before this do not count for its failure rate.
    counted_from bigint not null,
    -- When its list was set.
    list_at bigint not null
);
create index channel_campaigns_due on channel_campaigns (next_at) where next_at is not null;
create index channel_campaigns_of_workspace on channel_campaigns (workspace, campaign);

-- What became of each person of a list who was written to or passed over. Who is not here waits.
create table channel_campaign_people (
    list_row text primary key,
    workspace text not null,
    campaign text not null,
    contact text,
    message text,
    -- sending, sent, failed, frequency_capped, skipped, delivery_unknown
    standing text not null,
    -- How far a sent message came: 0 sent, 1 delivered, 2 read, 3 replied.
    step bigint not null,
    -- Why the person was passed over, and the code of a failure.
    reason text,
    code bigint,
    -- 1: the person said STOP after the message.
    opted_out bigint not null,
    at bigint not null
);
create index channel_campaign_people_counts on channel_campaign_people (campaign, standing, step);
create index channel_campaign_people_recent on channel_campaign_people (campaign, at);
create unique index channel_campaign_people_message on channel_campaign_people (message) where message is not null;
create index channel_campaign_people_contact on channel_campaign_people (workspace, contact, at) where contact is not null;
