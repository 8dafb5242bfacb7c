//! A transaction that is bound to a workspace.

use std::any::Any;
use std::ops::{Deref, DerefMut};

use domain::tenant::Tenant;
use domain::trace::TraceContext;

use super::counters::{Counter, Fold};
use super::error::{DbError, Must};
use super::row::FromRow;
use super::tx::Tx;
use super::value::{self, Value};

/// A transaction of one workspace ([`Tx::of`]). Every statement gets the workspace as its parameter `?1`, and the given
/// parameters begin at `?2`, so a mixed-up parameter cannot reach another tenant's rows. It derefs to [`Tx`]; a statement
/// across workspaces runs on [`unbound`](Self::unbound).
pub struct TenantTx<'t, 'a> {
    tx: &'t mut Tx<'a>,
    tenant: Tenant,
}

impl<'a> Tx<'a> {
    /// This transaction, bound to a workspace.
    pub fn of(&mut self, tenant: Tenant) -> TenantTx<'_, 'a> {
        TenantTx { tx: self, tenant }
    }
}

impl<'a> Deref for TenantTx<'_, 'a> {
    type Target = Tx<'a>;

    fn deref(&self) -> &Tx<'a> {
        self.tx
    }
}

impl<'a> DerefMut for TenantTx<'_, 'a> {
    fn deref_mut(&mut self) -> &mut Tx<'a> {
        self.tx
    }
}

impl<'a> TenantTx<'_, 'a> {
    /// The workspace.
    pub fn tenant(&self) -> Tenant {
        self.tenant
    }

    /// The unbound transaction: its statements get the given parameters only.
    pub fn unbound(&mut self) -> &mut Tx<'a> {
        self.tx
    }

    /// See `Tx::cache_row`; here and below, so that a key may be made of [`Self::tenant`].
    pub(crate) fn cache_row<T: Any>(&mut self, key: String, row: T) {
        self.tx.cache_row(key, row);
    }

    /// See `Tx::uncache`.
    pub(crate) fn uncache(&mut self, key: &str) {
        self.tx.uncache(key);
    }

    /// Prepends the workspace to the parameters. Debug builds panic on a statement that does not use it.
    fn with<'v>(&self, sql: &str, params: &'v [Value<'_>]) -> Vec<Value<'v>> {
        debug_assert!(uses_tenant(sql), "a statement of one workspace without ?1: {sql}");
        let mut bound = Vec::with_capacity(params.len() + 1);
        bound.push(self.tenant.into());
        bound.extend(params.iter().map(Value::borrowed));
        bound
    }

    /// See [`Tx::exec`].
    pub fn exec(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        let params = self.with(sql, params);
        self.tx.exec(sql, &params)
    }

    /// See [`Tx::later`].
    pub fn later(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.later(sql, &params)
    }

    /// See [`Tx::add`].
    pub fn add(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.add(sql, &params)
    }

    /// See [`Tx::add_new`].
    pub fn add_new(&mut self, sql: &str, params: &[Value<'_>], otherwise: DbError) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.add_new(sql, &params, otherwise)
    }

    /// See [`Tx::must`].
    pub fn must(&mut self, sql: &str, params: &[Value<'_>], must: Must) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.must(sql, &params, must)
    }

    /// See [`Tx::change`]; the first parameter is the id.
    pub fn change(&mut self, sql: &str, params: &[Value<'_>], otherwise: DbError) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.change(sql, &params, otherwise)
    }

    /// See [`Tx::count`].
    pub fn count(
        &mut self,
        counter: Counter,
        sql: &str,
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        self.tally(counter, sql, &[], params, must)
    }

    /// See [`Tx::tally`]. `folds` begins with that of the workspace, [`Fold::Same`].
    pub fn tally(
        &mut self,
        counter: Counter,
        sql: &str,
        folds: &[Fold],
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.tally(counter, sql, folds, &params, must)
    }

    /// See [`Tx::count_checked`].
    pub fn count_checked(
        &mut self,
        counter: Counter,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
    ) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.count_checked(counter, sql, &params, otherwise)
    }

    /// See [`Tx::insert_all`]: the workspace is the first column, and not among the values.
    pub fn insert_all<'v, const WIDTH: usize>(
        &mut self,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
    ) -> Result<(), DbError> {
        let tenant = self.tenant;
        self.tx.insert_of(tenant, into, rows)
    }

    /// See [`Tx::all`].
    pub fn all<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<T>, DbError> {
        let params = self.with(sql, params);
        self.tx.all(sql, &params)
    }

    /// See [`Tx::one`].
    pub fn one<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Option<T>, DbError> {
        let params = self.with(sql, params);
        self.tx.one(sql, &params)
    }

    /// See [`Tx::exists`].
    pub fn exists(&mut self, sql: &str, params: &[Value<'_>]) -> Result<bool, DbError> {
        let params = self.with(sql, params);
        self.tx.exists(sql, &params)
    }

    /// See [`Tx::each`].
    pub fn each<T: FromRow>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        visit: impl FnMut(T) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let params = self.with(sql, params);
        self.tx.each(sql, &params, visit)
    }

    /// See [`Tx::pipeline_reads`].
    pub fn pipeline_reads(&mut self, look: impl FnOnce(&mut TenantTx<'_, 'a>)) {
        let tenant = self.tenant;
        self.tx.pipeline_reads(|tx| look(&mut tx.of(tenant)));
    }

    /// See [`Tx::prefetch`].
    pub fn prefetch(&mut self, look: impl FnOnce(&mut TenantTx<'_, 'a>)) -> Result<(), DbError> {
        let tenant = self.tenant;
        self.tx.prefetch(|tx| look(&mut tx.of(tenant)))
    }

    /// See [`Tx::traced`].
    pub fn traced<T>(
        &mut self,
        of: Option<TraceContext>,
        write: impl FnOnce(&mut TenantTx<'_, 'a>) -> T,
    ) -> T {
        let tenant = self.tenant;
        self.tx.traced(of, |tx| write(&mut tx.of(tenant)))
    }

    /// See [`any_of`](super::any_of), for parameters that begin at `?2`.
    pub fn any_of<'v>(
        &self,
        params: &mut Vec<Value<'v>>,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> String {
        format!("({})", value::places(params, values, 2).join(", "))
    }

    /// See [`column_of`](super::column_of), for parameters that begin at `?2`.
    pub fn column_of<'v>(
        &self,
        params: &mut Vec<Value<'v>>,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> String {
        format!("({})", value::places(params, values, 2).join("), ("))
    }
}

/// Whether `?1` is among the parameters of a statement.
fn uses_tenant(sql: &str) -> bool {
    sql.split("?1").skip(1).any(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::uses_tenant;

    #[test]
    fn a_statement_uses_the_tenant_if_it_names_the_first_parameter() {
        assert!(uses_tenant("select 1 from things where workspace = ?1 and id = ?2"));
        assert!(uses_tenant("insert into things values (?10, ?1)"));
        assert!(!uses_tenant("select 1 from things where id = ?2"));
        assert!(!uses_tenant("insert into things values (?2, ?10, ?11)"));
    }
}
