-- A board of a campaign, or of an agent that answers calls. It is made when it is first needed.
create table boards (
    id text primary key,
    workspace text not null references workspaces (id),
    -- The campaign or the agent.
    owner text not null,
    -- A suggestion of the model below this confidence, in thousandths, is left to a person.
    review_below bigint not null,
    created_at bigint not null,
    -- Grows with every change of its columns.
    version bigint not null
);
create unique index board_of_owner on boards (workspace, owner);

create table board_columns (
    id text primary key,
    workspace text not null,
    board text not null,
    -- Place from left to right.
    position bigint not null,
    name text not null,
    slug text not null,
    -- new, open, advancing, won, lost, dnc, no_contact
    kind text not null,
    -- JSON lists.
    rules text not null,
    automations text not null,
    -- Its cards, and those of them whose person has answered a call.
    cards bigint not null,
    reached bigint not null
);
create index board_columns_in_order on board_columns (board, position);

create table board_cards (
    id text primary key,
    workspace text not null,
    board text not null,
    contact text not null,
    column_id text not null,
    -- placed, needs_review
    status text not null,
    -- In thousandths; null until a call sorted it, and after a move by hand.
    confidence bigint,
    suggested text,
    -- low_confidence, automation_failed
    attention text,
    entered_at bigint not null,
    -- The name on the calling list; that of the contact comes first.
    name text,
    -- Whether the person has answered a call.
    reached bigint not null,
    last_call text,
    last_call_at bigint,
    summary text,
    -- Start of the call whose sorting it shows.
    sorted_at bigint,
    -- When it was last moved by hand: calls that began before do not move it any more.
    moved_at bigint,
    last_move text,
    created_at bigint not null,
    version bigint not null
);
create unique index board_card_of_person on board_cards (board, contact);
create index board_cards_in_column on board_cards (board, column_id, entered_at, id);
create index board_cards_by_arrival on board_cards (board, entered_at, id);
create index board_cards_of_contact on board_cards (workspace, contact);

-- What columns do with cards that came into them: one row for each automation of a move, written with the move.
create table board_actions (
    move_id text not null,
    -- Place of the automation in its column.
    position bigint not null,
    workspace text not null,
    board text not null,
    card text not null,
    contact text not null,
    column_id text not null,
    kind text not null,
    -- JSON: the automation as it was defined at the move, and what the event tells of the move.
    body text not null,
    told text not null,
    -- How many automations led to the move.
    depth bigint not null,
    -- pending, done, failed, skipped
    state text not null,
    error text,
    attempts bigint not null,
    -- When it is due; null once it is over.
    next_at bigint,
    created_at bigint not null,
    finished_at bigint,
    primary key (move_id, position)
);
create index board_actions_due on board_actions (next_at) where next_at is not null;
create index board_actions_of_card on board_actions (card, move_id);
create index board_actions_of_contact on board_actions (workspace, contact) where next_at is not null;
create index board_actions_over on board_actions (finished_at) where finished_at is not null;

-- Rows of calling lists that an automation added: how many automations led to them.
create table board_origins (
    list_row text primary key,
    workspace text not null,
    depth bigint not null
);
