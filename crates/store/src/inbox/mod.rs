//! The inbox of a workspace: chats of all channels by view, its settings, the members who answer, private notes, read
//! marks, and saved answers.

mod entries;
mod notes;
mod saved_answers;
mod team;

pub use entries::{
    EntryRow, LastMessage, Position, agent_names, count, entries, entry, last_messages, marks, set_mark,
    windows,
};
pub use notes::{NoteRow, add_note, count_notes, erase, notes, sweep};
pub use saved_answers::{
    SavedAnswerRow, count_saved_answers, delete_saved_answer, insert_saved_answer, save_saved_answer,
    saved_answer, saved_answers,
};
pub use team::{
    InboxMemberRow, SettingsRow, assigned, candidates, held, inbox_member, is_waiting, lock_if_present,
    member_names, round_robin_workspaces, save_inbox_member, save_settings, see, settings, team, waiting,
};
