-- A flow graph has an id that never gets another graph, so what is worked out about it once stays true; and an agent's row stays small, however large its
-- flows are: whoever places a call reads the row only.
create table flows (
    id text primary key,
    workspace text not null references workspaces (id),
    agent text not null,
    -- The graph as the client sent it (JSON), and its length.
    graph text not null,
    bytes bigint not null,
    -- What a call needs of it (JSON), once it was published.
    needs text
);
create index flows_of_agent on flows (workspace, agent);
insert into flows (id, workspace, agent, graph, bytes) select 'flow_d_' || id, workspace, id, draft, length(draft) from agents where deleted_at is null;
insert into flows (id, workspace, agent, graph, bytes)
    select 'flow_p_' || id, workspace, id, published, length(published) from agents where deleted_at is null and published <> draft;
alter table agents add column draft_flow text not null default '';
alter table agents add column published_flow text not null default '';
update agents set draft_flow = 'flow_d_' || id, published_flow = case when published = draft then 'flow_d_' || id else 'flow_p_' || id end
    where deleted_at is null;
alter table agents drop column draft;
alter table agents drop column published;
-- Whether the store can be written is asked on a row of its own: the first one is what placements wait for when lines run out.
insert into health (id, at) values (2, 0);
