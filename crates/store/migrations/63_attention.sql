-- Cards that a person has to judge, over all boards of a workspace.
create index board_cards_to_review on board_cards (workspace, entered_at) where status = 'needs_review';
-- Chains of the decision log that the last verification found broken.
create table broken_logs (
    workspace text not null,
    mode text not null,
    found_at bigint not null,
    primary key (workspace, mode)
);
