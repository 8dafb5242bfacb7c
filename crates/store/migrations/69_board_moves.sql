-- The colour of a column, a word; null for none.
alter table board_columns add column color text;

-- Every move of a card: its history. A move by a member can be undone for a few seconds.
create table board_moves (
    id text primary key,
    workspace text not null,
    board text not null,
    card text not null,
    -- Columns, with their names at the move: columns are renamed and deleted.
    from_column text,
    from_name text,
    to_column text not null,
    to_name text not null,
    -- api, sorting; of one by hand, who it was.
    moved_by text not null,
    actor text,
    -- Of the sorting, in thousandths.
    confidence bigint,
    -- The call that caused the move, or else the last one.
    call text,
    moved_at bigint not null,
    -- Until when the move can be undone, and the card before it, JSON; null unless a member made the move.
    undo_until bigint,
    card_before text,
    undone_at bigint
);
create index board_moves_of_card on board_moves (workspace, card, id);
create index board_moves_by_age on board_moves (moved_at);
