-- How often conversations took an edge of a version of an agent's flow on a day of India (days since 1970). An edge is the node that it leaves
-- (empty for the start) and the field that holds it. Several rows (`shard`) are one figure.
create table flow_visits (
    workspace text not null,
    agent text not null,
    mode text not null,
    version bigint not null,
    day bigint not null,
    node text not null,
    edge text not null,
    shard bigint not null,
    visits bigint not null,
    primary key (workspace, agent, mode, version, day, node, edge, shard)
);
create index flow_visits_by_day on flow_visits (day);
