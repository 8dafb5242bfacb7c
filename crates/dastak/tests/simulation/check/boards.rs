//! What must hold of boards: counters that add up, a card for everybody who was called, and automations that
//! were carried out once.

use super::Court;

impl Court<'_> {
    pub(super) fn boards_add_up(&mut self) {
        let counters: Vec<(String, i64, i64, i64, i64)> = self.rows(
            "select c.id, c.cards, c.reached, (select count(*) from board_cards k where k.column_id = c.id), \
             (select count(*) from board_cards k where k.column_id = c.id and k.reached = 1) from board_columns c",
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        );
        for (column, cards, reached, has, answered) in counters {
            if (cards, reached) != (has, answered) {
                self.say(format!(
                    "{column} counts {cards} cards and {reached} reached, it has {has} and {answered}"
                ));
            }
        }
        let lost: Vec<String> = self.rows(
            "select c.id from calls c join contacts p on p.id = c.contact where c.campaign is not null and c.mode = 'live' \
             and c.status in ('completed', 'no_answer', 'busy') and p.erased_at is null and not exists \
             (select 1 from boards b join board_cards k on k.board = b.id where b.owner = c.campaign and k.contact = c.contact \
             and (k.reached = 1 or c.status <> 'completed' or c.end_cause in ('voicemail', 'no_answer', 'busy', 'not_connected')))",
            |row| row.get(0),
        );
        for call in lost {
            self.say(format!("{call} is not on the board of its campaign"));
        }
        let waiting = self.count("select count(*) from board_actions where next_at is not null");
        if waiting != 0 {
            self.say(format!("{waiting} automations were never carried out"));
        }
        let told = self.count("select count(*) from events where type = 'board.card_moved'");
        let done = self.count("select count(*) from board_actions where kind = 'event' and state = 'done'");
        if told != done {
            self.say(format!("{done} moves were to be told, {told} were"));
        }
        if self.count("select count(*) from board_origins where depth > 1") != 0 {
            self.say("an automation followed an automation onto a list".into());
        }
        let added = self.count("select count(*) from board_origins");
        let adding = self
            .count("select count(*) from board_actions where kind = 'add_to_campaign' and state = 'done'");
        if added > adding {
            self.say(format!("{adding} people were to be added, {added} were"));
        }
    }
}
