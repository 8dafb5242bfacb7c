//! The prepaid wallet: an append-only ledger, a balance that is updated by one conditional statement, and reservations
//! for calls in flight.

use const_format::formatcp;
use domain::ids::{Id, WalletTransaction};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{Counter, DbError, Fold, TenantTx, Value};
use crate::params;

row! {
    /// A line of the ledger.
    #[derive(Debug, Clone)]
    pub struct EntryRow in "wallet_entries" {
        id: Id<WalletTransaction>,
        kind: String,
        /// Minor units; negative deducts.
        amount: i64,
        /// Sum of the ledger up to and with this line.
        balance_after: i64,
        /// Call id, chat id or payment id.
        reference: String,
        created_at: Timestamp,
    }
    insert with { workspace: Tenant, seq: i64 }
}

row! {
    /// State of a wallet after a movement, as `wallet.low` needs it.
    #[derive(Debug, Clone)]
    pub struct WalletState {
        /// Sum of the ledger.
        balance: i64,
        /// The amount that calls in flight reserve.
        reserved: i64,
        /// ISO 4217 code.
        currency: String,
        /// Price of a started minute.
        cost_per_minute: i64,
        /// Threshold set by the operator.
        low_balance: Option<i64>,
        /// The last notified level: 0 none, 1 low, 2 exhausted.
        low_level: i64,
        /// Lines of the ledger.
        ledger_seq: i64,
    }
}

const STATE: &str = WalletState::COLUMNS;

/// The wallet as it is.
pub fn state(tx: &mut TenantTx) -> Result<Option<WalletState>, DbError> {
    tx.one(formatcp!("select {STATE} from workspaces where id = ?1"), &[])
}

/// The lower bound of the balance after a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// Not below the reservations of calls in flight: for debits by the operator.
    Reserved,
    /// None: its reservation was released just now.
    None,
}

/// Adds a line to the ledger and moves the balance. `None`: the floor refuses it, and nothing is written.
pub fn post(
    tx: &mut TenantTx,
    id: Id<WalletTransaction>,
    kind: &str,
    amount: i64,
    reference: &str,
    floor: Floor,
    now: Timestamp,
) -> Result<Option<(EntryRow, WalletState)>, DbError> {
    let sql = formatcp!(
        "update workspaces set balance = balance + cast(?2 as bigint), ledger_seq = ledger_seq + 1 \
         where id = ?1 and (cast(?2 as bigint) >= 0 or cast(?3 as bigint) = 1 or balance - reserved + cast(?2 as bigint) >= 0) returning {STATE}"
    );
    let Some(state) = tx.one::<WalletState>(sql, params![amount, i64::from(floor == Floor::None)])? else {
        return Ok(None);
    };
    let entry = EntryRow {
        id,
        kind: kind.into(),
        amount,
        balance_after: state.balance,
        reference: reference.into(),
        created_at: now,
    };
    tx.later(EntryRow::INSERT, &entry.values(state.ledger_seq))?;
    Ok(Some((entry, state)))
}

/// The released reservations and the charges of calls that leave their lines.
#[derive(Debug, Clone, Default)]
pub struct Settlement {
    /// Their reservations, minor units.
    pub held: i64,
    pub lines: i64,
    /// Each charge, above 0, with its reference, in the order in which they are written.
    pub charges: Vec<(Id<WalletTransaction>, i64, String)>,
}

/// Releases the lines and reservations of calls that leave them, and posts their charges to the ledger, with one update
/// of the wallet. Returns the wallet afterwards. The amount must already be reserved, so the balance is not checked.
pub fn settle(
    tx: &mut TenantTx,
    kind: &str,
    settlement: &Settlement,
    now: Timestamp,
) -> Result<Option<WalletState>, DbError> {
    let Settlement { held, lines, charges } = settlement;
    if charges.is_empty() {
        release(tx, *held, *lines)?;
        return Ok(None);
    }
    let sum = charges.iter().fold(0i64, |sum, (_, amount, _)| sum.saturating_add(*amount));
    let count = charges.len() as i64;
    let sql = formatcp!(
        "update workspaces set balance = balance - cast(?2 as bigint), ledger_seq = ledger_seq + cast(?3 as bigint), \
         reserved = reserved - cast(?4 as bigint), lines = lines - cast(?5 as bigint) where id = ?1 returning {STATE}"
    );
    let Some(state) = tx.one::<WalletState>(sql, params![sum, count, *held, *lines])? else {
        return Err(DbError::Internal("a charge without a workspace".into()));
    };
    let (mut balance, mut seq) = (state.balance + sum, state.ledger_seq - count);
    let entries: Vec<(EntryRow, i64)> = charges
        .iter()
        .map(|(id, amount, reference)| {
            (balance, seq) = (balance - amount, seq + 1);
            let entry = EntryRow {
                id: *id,
                kind: kind.into(),
                amount: -amount,
                balance_after: balance,
                reference: reference.clone(),
                created_at: now,
            };
            (entry, seq)
        })
        .collect();
    tx.insert_all(EntryRow::INTO, entries.iter().map(|(entry, seq)| entry.values(*seq)))?;
    Ok(Some(state))
}

/// Like [`settle`] on PostgreSQL, with the commit, so that the workspace is locked only during it. It is based on a
/// wallet that was `seen` without a lock: if the price or the threshold changed, or less than `floor` would be left,
/// the transaction is retried.
pub fn settle_at_commit(
    tx: &mut TenantTx,
    kind: &str,
    settlement: &Settlement,
    (seen, floor): (&WalletState, i64),
    now: Timestamp,
) -> Result<(), DbError> {
    let tenant = tx.tenant();
    let Settlement { held, lines, charges } = settlement;
    let counter = Counter::Wallet(tenant.bits());
    if charges.is_empty() {
        let folds = [Fold::Same, Fold::Sum, Fold::Sum];
        return tx.tally(counter, RELEASE, &folds, params![*held, *lines], None);
    }
    let sum = charges.iter().fold(0i64, |sum, (_, amount, _)| sum.saturating_add(*amount));
    let list = |of: fn(&(Id<WalletTransaction>, i64, String)) -> Value<'static>| {
        Value::Many(charges.iter().map(of).collect())
    };
    let sql = "with paid as (update workspaces set balance = balance - cast(?2 as bigint), \
         ledger_seq = ledger_seq + cast(?3 as bigint), reserved = reserved - cast(?4 as bigint), lines = lines - cast(?5 as bigint) \
         where id = ?1 and balance - cast(?2 as bigint) >= cast(?6 as bigint) and cost_per_minute = cast(?7 as bigint) \
         and low_balance is not distinct from cast(?8 as bigint) returning balance, ledger_seq), \
         added as (insert into wallet_entries (workspace, seq, id, kind, amount, balance_after, reference, created_at) \
         select ?1, paid.ledger_seq - cast(?3 as bigint) + r.n, r.id, ?9, - r.amount, \
         cast(paid.balance + cast(?2 as bigint) - sum(r.amount) over (order by r.n) as bigint), r.reference, cast(?10 as bigint) \
         from paid, unnest(cast(?11 as text[]), cast(?12 as bigint[]), cast(?13 as text[])) with ordinality as r (id, amount, reference, n) \
         returning 1) select 1 / (count(*) = cast(?3 as bigint))::int from added";
    let values = [
        sum.into(),
        (charges.len() as i64).into(),
        (*held).into(),
        (*lines).into(),
        floor.into(),
        seen.cost_per_minute.into(),
        seen.low_balance.into(),
        kind.into(),
        now.into(),
        list(|(id, ..)| (*id).into()),
        list(|(_, amount, _)| (*amount).into()),
        list(|(.., reference)| reference.clone().into()),
    ];
    let otherwise = DbError::Retry("a wallet has changed since it was seen".into());
    tx.count_checked(counter, sql, &values, otherwise)
}

/// Reserves `lines` for calls and `amount` of the balance beside all other reservations. Returns whether the balance
/// covers it. Each call and each second leg on a line reserves its price for every covered minute; nothing else is
/// reserved.
pub fn reserve(tx: &mut TenantTx, amount: i64, lines: i64) -> Result<bool, DbError> {
    Ok(tx.exec(RESERVE, params![amount, lines])? > 0)
}

/// Like [`reserve`] for a workspace that this transaction has locked and whose balance it has checked: otherwise the
/// transaction fails.
pub fn reserve_covered(tx: &mut TenantTx, amount: i64, lines: i64) -> Result<(), DbError> {
    let otherwise = DbError::Internal("a wallet was changed by somebody who did not hold it".into());
    tx.change(RESERVE, params![amount, lines], otherwise)
}

const RESERVE: &str = "update workspaces set reserved = reserved + cast(?2 as bigint), lines = lines + cast(?3 as bigint) \
    where id = ?1 and balance - reserved >= cast(?2 as bigint)";

/// Releases the lines of calls and their reservations.
pub fn release(tx: &mut TenantTx, amount: i64, lines: i64) -> Result<(), DbError> {
    tx.later(RELEASE, params![amount, lines])
}

const RELEASE: &str = "update workspaces set reserved = reserved - cast(?2 as bigint), lines = lines - cast(?3 as bigint) where id = ?1";

/// Adds as many of these amounts, in their order, to the reservations as the balance covers. Returns how many. Usually
/// it covers all of them, and that is one conditional statement.
pub fn grow(tx: &mut TenantTx, amounts: &[i64]) -> Result<usize, DbError> {
    let mut covered = amounts.len();
    loop {
        let sum = amounts[..covered].iter().fold(0i64, |sum, amount| sum.saturating_add(*amount));
        if covered == 0 || reserve(tx, sum, 0)? {
            return Ok(covered);
        }
        let free = state(tx)?.map_or(0, |state| state.balance.saturating_sub(state.reserved));
        let fits = amounts
            .iter()
            .scan(0i64, |sum, amount| {
                *sum = sum.saturating_add(*amount);
                Some(*sum)
            })
            .take_while(|sum| *sum <= free)
            .count();
        // Concurrent debits are possible: each round covers fewer than the one before.
        covered = fits.min(covered - 1);
    }
}

/// Stores the last notified level of `wallet.low`.
pub fn set_low_level(tx: &mut TenantTx, level: i64) -> Result<(), DbError> {
    tx.later("update workspaces set low_level = ?2 where id = ?1", params![level])
}

/// The ledger, newest first, and how many lines it has.
pub fn entries(tx: &mut TenantTx, limit: i64, offset: i64) -> Result<(Vec<EntryRow>, i64), DbError> {
    let total = tx.one("select ledger_seq from workspaces where id = ?1", &[])?.unwrap_or(0);
    // Positions have no gaps, so a page is a range of them at any depth.
    let top = total - offset;
    const SQL: &str = formatcp!(
        "select {} from wallet_entries where workspace = ?1 and seq <= ?2 and seq > ?3 order by seq desc",
        EntryRow::COLUMNS
    );
    let rows = tx.all(SQL, params![top, top - limit])?;
    Ok((rows, total))
}
