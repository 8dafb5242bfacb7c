-- The chain of actions, and the indexes by which records are found. In that chain the actor stands in the record, too, and the hash covers it
-- there; the object is in interaction_id, the operation in outcome.
alter table decision_log add column actor text not null default '';
create index decision_log_interactions on decision_log (workspace, chain, interaction_id, seq);
create index decision_log_blocked on decision_log (workspace, chain, seq) where decision = 'blocked';
create index decision_log_gates on decision_log (workspace, blocked_by, chain, seq) where decision = 'blocked';
create index decision_log_actors on decision_log (workspace, actor, chain, seq) where actor <> '';
create index decision_log_operations on decision_log (workspace, outcome, chain, seq) where actor <> '';
