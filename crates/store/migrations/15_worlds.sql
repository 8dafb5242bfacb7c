-- The world in which a delivery's event happened: each world sees its own log.
alter table deliveries add column mode text not null default 'live';
-- The mode of an event is the world that it is shown in. Only live keys send webhook.test to an endpoint; its envelope says livemode false all the same.
update events set mode = 'live' where type = 'webhook.test' and mode = 'test';
update deliveries set mode = 'test'
    where exists (select 1 from events where events.workspace = deliveries.workspace and events.id = deliveries.event and events.mode = 'test');
-- What test keys make is found by itself. Live events are found by the primary key, past those of the test world, a bounded number at a time.
create index events_of_test on events (workspace, id) where mode = 'test';
create index deliveries_of_test on deliveries (workspace, endpoint, id) where mode = 'test';

-- The key that a call was scheduled with, null for those made before this step.
alter table scheduled_calls add column api_key text;
create index scheduled_calls_of_key on scheduled_calls (api_key, id) where status = 'scheduled';

-- Erasure goes by the number, too: calls that dials_to_number leaves out, and events that name a number which is not that of their person.
create index calls_from_number on calls (workspace, from_number) where direction = 'inbound';
create index calls_to_number on calls (workspace, to_number) where direction = 'outbound' and (mode = 'test' or block_reason is not null);
create index events_of_transfers on events (workspace, id) where type = 'call.transferred';
