//! Outcome boards: their columns with counters, their cards, and the pending actions of columns on their cards.

mod actions;
pub mod moves;

pub use actions::{
    ActionRow, actions_of, claim, drop_old_actions, due, insert_actions, lock_due, next_due, note_failure,
    of_move_for_update, save_action, skip_undone, take_due,
};

use const_format::formatcp;
use domain::board::{Attention, CardStatus, ColumnColor, ColumnType, defaults};
use domain::campaign::RowState;
use domain::ids::{
    Agent, Board, BoardColumn, BoardMove, Call, Campaign, Card, Chat, Contact, Id, ListRow, Nudge,
};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::campaigns::due::cached_row;
use crate::db::row::{row, update};
use crate::db::{Counter, DbError, Fold, Must, TenantTx, Tx, Value};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct BoardRow in "boards" as "b" {
        id: Id<Board>,
        workspace: Tenant,
        /// The campaign or the agent that it belongs to.
        owner: String,
        /// Confidence, in thousandths, from which the model moves a card by itself.
        review_below: i64,
        created_at: Timestamp,
        /// Grows with every change of its columns.
        version: i64,
    }
}

row! {
    #[derive(Debug, Clone)]
    pub struct ColumnRow in "board_columns" as "c" {
        id: Id<BoardColumn>,
        board: Id<Board>,
        /// Its place from left to right, from 0.
        position: i64,
        name: String,
        key: String as "slug",
        kind: ColumnType,
        /// What moves a card into it, a list.
        rules: Json,
        /// What it does with a card that comes in, a list.
        automations: Json,
        color: Option<ColumnColor>,
        /// How many cards it has.
        cards: i64,
        /// Those of them whose person has answered a call.
        reached: i64,
    }
    insert with { workspace: Tenant }
}

/// A board with its columns from left to right.
#[derive(Debug, Clone)]
pub struct WholeBoard {
    pub board: BoardRow,
    pub columns: Vec<ColumnRow>,
}

impl WholeBoard {
    /// A column of this board.
    pub fn column(&self, id: Id<BoardColumn>) -> Option<&ColumnRow> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// The first column of a type.
    pub fn first(&self, kind: ColumnType) -> Option<&ColumnRow> {
        self.columns.iter().find(|column| column.kind == kind)
    }

    fn of(rows: Vec<(BoardRow, ColumnRow)>) -> Option<Self> {
        let board = rows.first()?.0.clone();
        Some(Self { board, columns: rows.into_iter().map(|(_, column)| column).collect() })
    }
}

const WHOLE: &str = formatcp!(
    "select {}, {} from boards b join board_columns c on c.board = b.id and c.workspace = b.workspace",
    BoardRow::SELECT,
    ColumnRow::SELECT
);

/// The board of a campaign or an agent.
pub fn of_owner(tx: &mut TenantTx, owner: &str) -> Result<Option<WholeBoard>, DbError> {
    const SQL: &str = formatcp!("{WHOLE} where b.workspace = ?1 and b.owner = ?2 order by c.position");
    Ok(WholeBoard::of(tx.all(SQL, params![owner])?))
}

/// A board by its id.
pub fn get(tx: &mut TenantTx, id: Id<Board>) -> Result<Option<WholeBoard>, DbError> {
    const SQL: &str = formatcp!("{WHOLE} where b.workspace = ?1 and b.id = ?2 order by c.position");
    Ok(WholeBoard::of(tx.all(SQL, params![id])?))
}

/// Locks a board, and thereby its columns, until the transaction ends. Returns whether it exists.
pub fn lock(tx: &mut TenantTx, id: Id<Board>) -> Result<bool, DbError> {
    tx.exists("select 1 from boards where workspace = ?1 and id = ?2 /*pg for update*/", params![id])
}

/// Adds a board with its columns, unless its owner has one already. Returns whether it was added.
pub fn insert(tx: &mut Tx<'_>, row: &BoardRow, columns: &[ColumnRow]) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict (workspace, owner) do nothing", BoardRow::INSERT);
    if tx.exec(SQL, &row.values())? == 0 {
        return Ok(false);
    }
    tx.of(row.workspace).insert_all(ColumnRow::INTO, columns.iter().map(ColumnRow::values))?;
    Ok(true)
}

/// The `workflowType` of a campaign that is not deleted.
pub fn workflow_of_campaign(tx: &mut TenantTx, id: Id<Campaign>) -> Result<Option<String>, DbError> {
    tx.one(
        "select workflow_type from campaigns where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id],
    )
}

/// The `workflowTemplate` of an agent that is not deleted.
pub fn workflow_of_agent(tx: &mut TenantTx, id: Id<Agent>) -> Result<Option<String>, DbError> {
    tx.one(
        "select workflow_template from agents where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id],
    )
}

/// Whether an agent has a board: it answers chats or calls, or one of its nudges has created a board.
pub fn agent_shows_board(tx: &mut TenantTx, id: Id<Agent>) -> Result<bool, DbError> {
    let found: Option<i64> = tx.one(
        "select 1 from agents a where a.workspace = ?1 and a.id = ?2 and a.deleted_at is null and (a.channel = 'chat' or a.direction = 'inbound' \
         or exists (select 1 from boards b where b.workspace = ?1 and b.owner = ?2))",
        params![id],
    )?;
    Ok(found.is_some())
}

/// Writes what an edit changed of a column; its counters stay.
pub fn save_column(tx: &mut TenantTx, row: &ColumnRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "board_columns" of tenant set {
            position: row.position,
            name: &row.name,
            slug: &row.key,
            kind: row.kind,
            rules: &row.rules,
            automations: &row.automations,
            color: row.color,
        }
        where "board = ?2 and id = ?3", row.board, row.id
    );
    tx.later(sql, &values)
}

pub fn add_column(tx: &mut TenantTx, row: &ColumnRow) -> Result<(), DbError> {
    tx.later(ColumnRow::INSERT, &row.values())
}

/// Moves every card of a column into another one and updates the counters. The caller has locked the board.
pub fn empty_column(
    tx: &mut TenantTx,
    board: Id<Board>,
    from: Id<BoardColumn>,
    to: Id<BoardColumn>,
    now: Timestamp,
) -> Result<(), DbError> {
    let reached: Vec<bool> = tx.all(
        "update board_cards set column_id = ?4, entered_at = ?5, version = version + 1 where workspace = ?1 and board = ?2 and column_id = ?3 returning reached",
        params![board, from, to, now],
    )?;
    if reached.is_empty() {
        return Ok(());
    }
    let answered = reached.iter().filter(|reached| **reached).count();
    let must = Must { rows: 2, otherwise: moved_away() };
    tx.must(
        "update board_columns set \
         cards = cards + cast(?5 as bigint) * ((case when id = ?4 then 1 else 0 end) - (case when id = ?3 then 1 else 0 end)), \
         reached = reached + cast(?6 as bigint) * ((case when id = ?4 then 1 else 0 end) - (case when id = ?3 then 1 else 0 end)) \
         where workspace = ?1 and board = ?2 and id in (?3, ?4)",
        params![board, from, to, reached.len() as i64, answered as i64],
        must,
    )
}

/// Deletes a column that has no card.
pub fn remove_column(tx: &mut TenantTx, board: Id<Board>, id: Id<BoardColumn>) -> Result<(), DbError> {
    let sql = "delete from board_columns where workspace = ?1 and board = ?2 and id = ?3 and cards = 0";
    let otherwise = DbError::Retry("a card came into a column that is deleted".into());
    tx.must(sql, params![board, id], Must { rows: 1, otherwise })?;
    tx.later(
        "update board_cards set suggested = null, version = version + 1 where workspace = ?1 and board = ?2 and suggested = ?3",
        params![board, id],
    )
}

/// Writes the settings of a board itself, and counts the change.
pub fn save(tx: &mut Tx<'_>, row: &BoardRow) -> Result<(), DbError> {
    tx.later(
        "update boards set review_below = ?3, version = version + 1 where workspace = ?1 and id = ?2",
        params![row.workspace, row.id, row.review_below],
    )
}

row! {
    /// A person on a board, as stored.
    #[derive(Debug, Clone)]
    pub struct CardRow in "board_cards" as "k" {
        id: Id<Card>,
        workspace: Tenant,
        board: Id<Board>,
        contact: Id<Contact>,
        column: Id<BoardColumn> as "column_id",
        /// Whether a person has to review it.
        status: CardStatus,
        /// How sure its place or the suggestion is, in thousandths.
        confidence: Option<i64>,
        /// Where the model would move it.
        suggested: Option<Id<BoardColumn>>,
        /// Why it needs attention.
        attention: Option<Attention>,
        /// When it entered its column.
        entered_at: Timestamp,
        /// The name on the calling list.
        name: Option<String>,
        /// Whether the person has answered a call.
        reached: bool,
        last_call: Option<Id<Call>>,
        last_call_at: Option<Timestamp>,
        /// What the last analysed call was about.
        summary: Option<String>,
        /// Start of the call whose sorting it shows.
        sorted_at: Option<Timestamp>,
        /// When it was last moved by hand.
        moved_at: Option<Timestamp>,
        /// The move by which it entered its column.
        last_move: Option<Id<BoardMove>>,
        created_at: Timestamp,
        /// Grows with every save.
        version: i64,
    }
}

row! {
    /// A card with what its contact says.
    #[derive(Debug, Clone)]
    pub struct ShownCard {
        contact_name: Option<String> as "t.name",
        contact_phone: Option<String> as "t.phone",
    }
}

const SHOWN: &str = formatcp!(
    "select {}, {} from board_cards k left join contacts t on t.id = k.contact and t.workspace = ?1",
    CardRow::SELECT,
    ShownCard::COLUMNS
);

/// One card with what its contact says.
pub fn shown(
    tx: &mut TenantTx,
    board: Id<Board>,
    id: Id<Card>,
) -> Result<Option<(CardRow, ShownCard)>, DbError> {
    const SQL: &str = formatcp!("{SHOWN} where k.workspace = ?1 and k.board = ?2 and k.id = ?3");
    tx.one(SQL, params![board, id])
}

/// Cards of a board, of one column or of all, the last that entered first, after the one that entered at `before`.
pub fn cards(
    tx: &mut TenantTx,
    board: Id<Board>,
    column: Option<Id<BoardColumn>>,
    before: Option<(Timestamp, Id<Card>)>,
    limit: i64,
) -> Result<Vec<(CardRow, ShownCard)>, DbError> {
    const ALL: &str = formatcp!(
        "{SHOWN} where k.workspace = ?1 and k.board = ?2 and (k.entered_at, k.id) < (cast(?3 as bigint), ?4) \
         order by k.entered_at desc, k.id desc limit ?5"
    );
    const OF_COLUMN: &str = formatcp!(
        "{SHOWN} where k.workspace = ?1 and k.board = ?2 and k.column_id = ?6 and (k.entered_at, k.id) < (cast(?3 as bigint), ?4) \
         order by k.entered_at desc, k.id desc limit ?5"
    );
    let (at, id) =
        before.map_or_else(|| (Timestamp(i64::MAX), "~".to_owned()), |(at, id)| (at, id.to_string()));
    match column {
        None => tx.all(ALL, params![board, at, id, limit]),
        Some(column) => tx.all(OF_COLUMN, params![board, at, id, limit, column]),
    }
}

/// One card, locked until the transaction ends.
pub fn card_for_update(
    tx: &mut TenantTx,
    board: Id<Board>,
    id: Id<Card>,
) -> Result<Option<CardRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from board_cards where workspace = ?1 and board = ?2 and id = ?3 /*pg for update*/",
        CardRow::COLUMNS
    );
    tx.one(SQL, params![board, id])
}

/// The card of a person, locked until the transaction ends.
pub fn card_of(
    tx: &mut TenantTx,
    board: Id<Board>,
    contact: Id<Contact>,
) -> Result<Option<CardRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from board_cards where workspace = ?1 and board = ?2 and contact = ?3 /*pg for update*/",
        CardRow::COLUMNS
    );
    tx.one(SQL, params![board, contact])
}

/// The card of a person on the board of `owner`, locked until the transaction ends.
pub fn card_on(tx: &mut TenantTx, owner: &str, contact: Id<Contact>) -> Result<Option<CardRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from boards b join board_cards k on k.board = b.id and k.workspace = b.workspace \
         where b.workspace = ?1 and b.owner = ?2 and k.contact = ?3 /*pg for update of k*/",
        CardRow::SELECT
    );
    tx.one(SQL, params![owner, contact])
}

/// A column was deleted concurrently: the transaction is retried and sees that.
fn moved_away() -> DbError {
    DbError::Retry("a column of a board was deleted a moment ago".into())
}

row! {
    /// What adding a person's card to a board needs.
    #[derive(Debug, Clone)]
    pub struct BoardEntry {
        board: Id<Board> as "b.id",
        /// The column in which cards begin.
        column: Id<BoardColumn> as "c.id",
        /// The card that the person has already.
        card: Option<Id<Card>> as "k.id",
        /// The name on the calling list.
        name: Option<String> as "r.name",
        /// When the person was erased.
        erased_at: Option<Timestamp> as "t.erased_at",
    }
}

/// Reads what adding the person of a call to the board of `owner` needs; `None` without a board or such a contact. On
/// PostgreSQL an erasure of the contact waits until the transaction ends.
pub fn board_entry(
    tx: &mut TenantTx,
    owner: &str,
    contact: Id<Contact>,
    call: Id<Call>,
) -> Result<Option<BoardEntry>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from boards b join board_columns c on c.board = b.id and c.kind = 'new' \
         join contacts t on t.workspace = b.workspace and t.id = ?3 \
         left join board_cards k on k.board = b.id and k.contact = t.id \
         left join campaign_rows r on r.workspace = b.workspace and r.call = ?4 \
         where b.workspace = ?1 and b.owner = ?2 /*pg for share of t*/",
        BoardEntry::COLUMNS
    );
    tx.one(SQL, params![owner, contact, call])
}

/// Like [`board_entry`] for the person of a row of a calling list, or of none.
pub fn board_entry_of_row(
    tx: &mut TenantTx,
    owner: &str,
    contact: Id<Contact>,
    list_row: Option<Id<ListRow>>,
) -> Result<Option<BoardEntry>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from boards b join board_columns c on c.board = b.id and c.kind = 'new' \
         join contacts t on t.workspace = b.workspace and t.id = ?3 \
         left join board_cards k on k.board = b.id and k.contact = t.id \
         left join campaign_rows r on r.workspace = b.workspace and r.id = ?4 \
         where b.workspace = ?1 and b.owner = ?2 /*pg for share of t*/",
        BoardEntry::COLUMNS
    );
    tx.one(SQL, params![owner, contact, list_row])
}

row! {
    /// The row of a campaign's list whose message a conversation answers.
    #[derive(Debug, Clone)]
    pub struct ListRowOfChat {
        campaign: Id<Campaign> as "r.campaign",
        list_row: Id<ListRow> as "r.id",
        variables: Map<String, Json> as "r.variables",
        contact: Id<Contact> as "c.contact",
    }
}

/// The row of a campaign's list whose message a conversation answers.
pub fn row_of_chat(tx: &mut TenantTx, chat: Id<Chat>) -> Result<Option<ListRowOfChat>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from channel_chats c join campaign_rows r on r.workspace = c.workspace and r.id = c.list_row \
         where c.workspace = ?1 and c.chat = ?2",
        ListRowOfChat::COLUMNS
    );
    tx.one(SQL, params![chat])
}

/// Adds the card of a person whom this transaction has seen without one on this board. If a concurrent one added it,
/// the transaction is retried on PostgreSQL.
pub fn insert_card(tx: &mut Tx<'_>, row: &CardRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!("{} on conflict (board, contact) do nothing", CardRow::INSERT);
    let otherwise = DbError::Retry("a person has just come onto a board".into());
    tx.add_new(SQL, &row.values(), otherwise)?;
    count(&mut tx.of(row.workspace), row.board, row.column, (1, row.reached.into()))
}

/// Changes the counters of a column by so many cards, and so many whose person has answered.
fn count(
    tx: &mut TenantTx,
    board: Id<Board>,
    column: Id<BoardColumn>,
    (cards, reached): (i64, i64),
) -> Result<(), DbError> {
    tx.tally(
        Counter::Column(column.bits()),
        "update board_columns set cards = cards + cast(?4 as bigint), reached = reached + cast(?5 as bigint) \
         where workspace = ?1 and board = ?2 and id = ?3",
        &[Fold::Same, Fold::Same, Fold::Same, Fold::Sum, Fold::Sum],
        params![board, column, cards, reached],
        Some(Must { rows: 1, otherwise: moved_away() }),
    )
}

/// Saves a card that the caller has locked, and updates the counters of the columns that it leaves and enters. `before`
/// is its old column, and whether its person had answered.
pub fn save_card(tx: &mut Tx<'_>, row: &CardRow, before: (Id<BoardColumn>, bool)) -> Result<(), DbError> {
    let (sql, values) = update!(
        "board_cards" set {
            column_id: row.column,
            status: row.status,
            confidence: row.confidence,
            suggested: row.suggested,
            attention: row.attention,
            entered_at: row.entered_at,
            reached: row.reached,
            last_call: row.last_call,
            last_call_at: row.last_call_at,
            summary: row.summary.as_deref(),
            sorted_at: row.sorted_at,
            moved_at: row.moved_at,
            last_move: row.last_move,
        } and "version = version + 1"
        where "workspace = ?1 and id = ?2", row.workspace, row.id
    );
    let otherwise = DbError::Internal("a card was dropped although somebody held it".into());
    tx.change(sql, &values, otherwise)?;
    let (from, had_reached) = before;
    if from == row.column && had_reached == row.reached {
        return Ok(());
    }
    if from == row.column {
        return count(
            &mut tx.of(row.workspace),
            row.board,
            from,
            (0, i64::from(row.reached) - i64::from(had_reached)),
        );
    }
    count(&mut tx.of(row.workspace), row.board, from, (-1, -i64::from(had_reached)))?;
    count(&mut tx.of(row.workspace), row.board, row.column, (1, row.reached.into()))
}

row! {
    /// The columns of the list row of a call.
    #[derive(Debug, Clone)]
    pub struct ListRowOfCall {
        /// The name on the list.
        name: Option<String> as "r.name",
        state: RowState as "r.state",
        /// When it is due again.
        look_at: Option<Timestamp> as "r.look_at",
        /// How many automations put it there.
        depth: Option<i64> as "o.depth",
    }
}

impl ListRowOfCall {
    /// Whether it is never dialled again.
    pub fn exhausted(&self) -> bool {
        self.state == RowState::Unreached && self.look_at.is_none()
    }
}

/// The row of the calling list that a call was dialled for.
pub fn row_of_call(tx: &mut TenantTx, call: Id<Call>) -> Result<Option<ListRowOfCall>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from campaign_rows r left join board_origins o on o.list_row = r.id where r.workspace = ?1 and r.call = ?2",
        ListRowOfCall::COLUMNS
    );
    let known = cached_row(tx, call).map(|row| (row.name.clone(), row.standing.state, row.look_at));
    match known {
        Some((name, state, look_at)) => {
            Ok(Some(ListRowOfCall { name, state, look_at, depth: depth_of_row(tx, call)? }))
        }
        None => tx.one(SQL, params![call]),
    }
}

/// How many automations put the row of the calling list there that a call was dialled for; `None` when no automation did.
pub fn depth_of_row(tx: &mut TenantTx, call: Id<Call>) -> Result<Option<i64>, DbError> {
    let sql = "select o.depth from campaign_rows r join board_origins o on o.list_row = r.id where r.workspace = ?1 and r.call = ?2";
    tx.one(sql, params![call])
}

/// Remembers that an automation added a row to a calling list.
pub fn add_origin(tx: &mut TenantTx, list_row: Id<ListRow>, depth: i64) -> Result<(), DbError> {
    tx.later(
        "insert into board_origins (workspace, list_row, depth) values (?1, ?2, ?3) on conflict (list_row) do nothing",
        params![list_row, depth],
    )
}

/// Whether a nudge was created by the service: only by automations of boards.
pub fn is_own_nudge(tx: &mut TenantTx, nudge: Id<Nudge>) -> Result<bool, DbError> {
    let sql = "select id from nudges where workspace = ?1 and id = ?2 and api_key = ''";
    Ok(tx.one::<Id<Nudge>>(sql, params![nudge])?.is_some())
}

/// Figures of a campaign's board, from the counters of its columns (docs/contract/boards.md#funnel).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Funnel {
    /// People who have answered a call.
    pub contacted: i64,
    /// Cards in columns of type `advancing`.
    pub advancing: i64,
    /// Cards in columns of type `won`.
    pub won: i64,
    /// Cards in columns of type `lost`.
    pub lost: i64,
    /// Name of the first column of type `won`.
    pub win_label: String,
}

/// The metrics of a campaign's board; zeros before its first call.
pub fn funnel(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Funnel, DbError> {
    let rows: Vec<(ColumnType, String, i64, i64)> = tx.all(
        "select c.kind, c.name, c.cards, c.reached from boards b join board_columns c on c.board = b.id \
         where b.workspace = ?1 and b.owner = ?2 order by c.position",
        params![campaign],
    )?;
    let sum = |wanted: ColumnType| rows.iter().filter(|row| row.0 == wanted).map(|row| row.2).sum();
    let named = rows.iter().find(|row| row.0 == ColumnType::Won).map(|row| row.1.clone());
    let win_label = match named {
        Some(name) => name,
        None => {
            let workflow = workflow_of_campaign(tx, campaign)?.unwrap_or_default();
            let won = defaults(&workflow).into_iter().find(|column| column.kind == ColumnType::Won);
            won.map_or_else(String::new, |column| column.name.to_owned())
        }
    };
    Ok(Funnel {
        contacted: rows.iter().map(|row| row.3).sum(),
        advancing: sum(ColumnType::Advancing),
        won: sum(ColumnType::Won),
        lost: sum(ColumnType::Lost),
        win_label,
    })
}

row! {
    /// The column of a contact's card.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ContactColumn {
        contact: Id<Contact> as "k.contact",
        column: Id<BoardColumn> as "c.id",
        key: String as "c.slug",
        name: String as "c.name",
    }
}

/// The columns of these contacts' cards on a campaign's board; contacts without a card are omitted.
pub fn columns_of(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    contacts: &[Id<Contact>],
) -> Result<Vec<ContactColumn>, DbError> {
    if contacts.is_empty() {
        return Ok(Vec::new());
    }
    let mut values: Vec<Value<'_>> = vec![campaign.into()];
    let list = tx.any_of(&mut values, contacts.iter().map(|contact| (*contact).into()));
    let sql = format!(
        "select {} from boards b join board_cards k on k.board = b.id join board_columns c on c.id = k.column_id \
         where b.workspace = ?1 and b.owner = ?2 and k.contact in {list}",
        ContactColumn::COLUMNS
    );
    tx.all(&sql, &values)
}

/// Takes the personal data out of a contact's cards, which stay where they are, and ends what they still wait
/// for.
pub fn erase(tx: &mut TenantTx, contact: Id<Contact>, now: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update board_cards set name = null, summary = null, status = 'placed', suggested = null, attention = null, version = version + 1 \
         where workspace = ?1 and contact = ?2",
        params![contact],
    )?;
    tx.later(
        "update board_actions set state = 'skipped', error = 'contact_erased', next_at = null, finished_at = ?3 \
         where workspace = ?1 and contact = ?2 and next_at is not null",
        params![contact, now],
    )
}

/// Across workspaces: boards whose campaign or agent is deleted.
pub fn ownerless(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<(Tenant, Id<Board>)>, DbError> {
    tx.all(
        "select b.workspace, b.id from campaigns o join boards b on b.workspace = o.workspace and b.owner = o.id where o.deleted_at is not null \
         union all \
         select b.workspace, b.id from agents o join boards b on b.workspace = o.workspace and b.owner = o.id where o.deleted_at is not null \
         limit ?1",
        params![limit],
    )
}

/// Deletes up to `limit` cards of a board whose owner is deleted, and the board with the last of them. Returns whether
/// cards are left.
pub fn dissolve(tx: &mut TenantTx, board: Id<Board>, limit: i64) -> Result<bool, DbError> {
    const CARDS: &str =
        "select id from board_cards where workspace = ?1 and board = ?2 order by entered_at, id limit ?3";
    let sql = formatcp!("delete from board_moves where workspace = ?1 and card in ({CARDS})");
    tx.exec(sql, params![board, limit])?;
    let sql = formatcp!("delete from board_cards where workspace = ?1 and id in ({CARDS})");
    let dropped = tx.exec(sql, params![board, limit])?;
    if dropped as i64 == limit {
        return Ok(true);
    }
    for sql in [
        "update board_actions set state = 'skipped', error = 'board_gone', next_at = null, finished_at = created_at where workspace = ?1 and board = ?2 and next_at is not null",
        "delete from board_columns where workspace = ?1 and board = ?2",
        "delete from boards where workspace = ?1 and id = ?2",
    ] {
        tx.later(sql, params![board])?;
    }
    Ok(false)
}

/// Across workspaces: deletes the origins of up to `limit` rows of deleted calling lists. Returns how many.
pub fn forget_origins(tx: &mut Tx<'_>, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from board_origins where list_row in (select o.list_row from board_origins o where not exists \
         (select 1 from campaign_rows r where r.id = o.list_row) limit ?1)",
        params![limit],
    )
}
