-- What is graded of an agent's conversations (docs/contract/evaluation.md).
create table evaluation_settings (
    workspace text not null references workspaces (id),
    agent text not null,
    enabled bigint not null,
    -- Of a million finished conversations, so many are graded by themselves.
    chats_per_million bigint not null,
    calls_per_million bigint not null,
    -- The version of the criteria that is in force.
    version bigint not null,
    updated_at bigint not null,
    -- Who changed it: a key or a member.
    updated_by text not null,
    primary key (workspace, agent)
);

create table evaluation_criteria (
    workspace text not null,
    agent text not null,
    -- From 1.
    version bigint not null,
    -- JSON list.
    criteria text not null,
    created_at bigint not null,
    created_by text not null,
    primary key (workspace, agent, version)
);

-- One evaluation of one conversation.
create table evaluation_runs (
    id text primary key,
    workspace text not null references workspaces (id),
    agent text not null,
    -- chat, call
    kind text not null,
    -- Id of the chat or the call, and when that began.
    conversation text not null,
    began_at bigint not null,
    -- Its number among those of the conversation that have verdicts, from 1.
    run_no bigint,
    -- auto, sweep, manual
    started_by text not null,
    sweep text,
    criteria_version bigint not null,
    -- Who asked for it: a key or a member.
    asked_by text,
    -- pending, graded, failed, skipped
    status text not null,
    cause text,
    model text,
    passed bigint not null,
    failed bigint not null,
    not_applicable bigint not null,
    -- JSON list; null until it has verdicts.
    results text,
    -- Minor units.
    charged bigint not null,
    attempts bigint not null,
    -- When it is due, or its lease ends; null once it is over.
    next_at bigint,
    -- Whether a node has it.
    leased bigint not null,
    created_at bigint not null,
    evaluated_at bigint
);
create index evaluation_runs_due on evaluation_runs (next_at, id) where next_at is not null;
create index evaluation_runs_leased on evaluation_runs (workspace) where leased = 1;
create index evaluation_runs_of_conversation on evaluation_runs (workspace, conversation, id);
create index evaluation_runs_of_sweep on evaluation_runs (workspace, sweep) where sweep is not null and next_at is not null;
create unique index evaluation_run_numbers on evaluation_runs (workspace, conversation, run_no) where run_no is not null;
-- A conversation is graded by itself once, and by one at a time.
create unique index one_evaluation_at_the_end on evaluation_runs (workspace, conversation) where started_by = 'auto';
create unique index one_evaluation_at_a_time on evaluation_runs (workspace, conversation) where next_at is not null;

-- Verdicts by the day in India on which the conversation began, of the last evaluation of each.
create table evaluation_days (
    workspace text not null,
    agent text not null,
    kind text not null,
    criterion text not null,
    -- Counted from 1970.
    day bigint not null,
    passed bigint not null,
    failed bigint not null,
    not_applicable bigint not null,
    -- Scores, and their sum.
    scored bigint not null,
    score_sum bigint not null,
    primary key (workspace, agent, kind, criterion, day)
);

-- What people say of the same conversation.
create table evaluation_marks (
    workspace text not null,
    run text not null,
    criterion text not null,
    member text not null,
    conversation text not null,
    agent text not null,
    kind text not null,
    began_at bigint not null,
    -- The verdict of the model, and that of the person.
    verdict text not null,
    mark text not null,
    note text,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (workspace, run, criterion, member)
);
create index evaluation_marks_of_conversation on evaluation_marks (workspace, conversation);
create index evaluation_marks_of_agent on evaluation_marks (workspace, agent, began_at);

-- Past conversations that are graded again.
create table evaluation_sweeps (
    id text primary key,
    workspace text not null references workspaces (id),
    agent text not null,
    kind text not null,
    from_at bigint not null,
    to_at bigint not null,
    outcome text,
    only_ungraded bigint not null,
    criteria_version bigint not null,
    -- running, finished, cancelled, stopped
    status text not null,
    cause text,
    -- Conversations when it began, and how far it has got.
    conversations bigint not null,
    queued bigint not null,
    graded bigint not null,
    failed bigint not null,
    skipped bigint not null,
    -- Minor units: of one conversation when it began, and of all so far.
    price bigint not null,
    charged bigint not null,
    -- The last conversation that was queued.
    position text not null,
    created_by text not null,
    created_at bigint not null,
    finished_at bigint,
    -- When it goes on; null once it is over.
    next_at bigint,
    claimed_until bigint
);
create index evaluation_sweeps_newest on evaluation_sweeps (workspace, id);
create index evaluation_sweeps_due on evaluation_sweeps (next_at) where next_at is not null;
create unique index one_sweep_an_agent on evaluation_sweeps (workspace, agent) where next_at is not null;

-- What a sweep walks: the chats of an agent in the order of their beginning.
create index chats_of_agent on chats (workspace, agent, id) where ended_at is not null;

alter table workspaces add column cost_per_evaluation bigint not null default 100;
