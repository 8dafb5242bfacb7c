//! Rows of both engines. A type of row is declared once, with `row!`, which generates its column list, its reader and its
//! insert.

use super::error::DbError;
use super::value::{Column, Field};

/// One row of a result, read from left to right.
pub struct Row<'a> {
    source: Source<'a>,
    next: usize,
    /// Trailing columns for the engine only.
    hidden: usize,
}

enum Source<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

/// A type that is read from a row: a column, a declared row, or a tuple of these.
pub trait FromRow: Sized {
    /// Reads the next columns.
    ///
    /// # Errors
    /// [`DbError::Internal`] for a value of the wrong type or form.
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbError>;
}

impl<'a> Row<'a> {
    pub(super) fn sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        Self { source: Source::Sqlite(row), next: 0, hidden: 0 }
    }

    pub(super) fn postgres(row: &'a tokio_postgres::Row) -> Self {
        Self { source: Source::Postgres(row), next: 0, hidden: 0 }
    }

    /// A row whose last column is for the engine only.
    pub(super) fn numbered(row: &'a tokio_postgres::Row) -> Self {
        Self { source: Source::Postgres(row), next: 0, hidden: 1 }
    }

    /// Reads the next columns.
    ///
    /// # Errors
    /// [`DbError::Internal`] for a value of the wrong type or form.
    pub fn read<T: FromRow>(&mut self) -> Result<T, DbError> {
        T::from_row(self)
    }

    /// Reads a whole row.
    pub(super) fn whole<T: FromRow>(mut self) -> Result<T, DbError> {
        let read = self.read()?;
        debug_assert_eq!(self.next + self.hidden, self.width(), "a row has columns that nobody reads");
        Ok(read)
    }

    #[inline]
    fn column<T: Column>(&mut self) -> Result<T, DbError> {
        let at = self.next;
        self.next += 1;
        self.field(at).and_then(T::load).map_err(|why| self.unreadable(at, &why))
    }

    #[cold]
    fn unreadable(&self, at: usize, why: &str) -> DbError {
        DbError::Internal(format!("column {}: {why}", self.name(at)))
    }

    #[inline]
    fn field(&self, at: usize) -> Result<Field<'_>, String> {
        match self.source {
            Source::Sqlite(row) => match row.get_ref(at) {
                Ok(value) => Field::from_sqlite(value),
                Err(why) => Err(why.to_string()),
            },
            Source::Postgres(row) => row.try_get(at).map_err(|why| why.to_string()),
        }
    }

    fn name(&self, at: usize) -> String {
        match self.source {
            Source::Sqlite(row) => {
                row.as_ref().column_name(at).map_or_else(|_| at.to_string(), str::to_owned)
            }
            Source::Postgres(row) => {
                row.columns().get(at).map_or_else(|| at.to_string(), |column| column.name().to_owned())
            }
        }
    }

    fn width(&self) -> usize {
        match self.source {
            Source::Sqlite(row) => row.as_ref().column_count(),
            Source::Postgres(row) => row.len(),
        }
    }
}

impl<T: Column> FromRow for T {
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbError> {
        row.column()
    }
}

macro_rules! tuples {
    ($(($($part:ident),+))*) => {$(
        impl<$($part: FromRow),+> FromRow for ($($part,)+) {
            fn from_row(row: &mut Row<'_>) -> Result<Self, DbError> {
                Ok(($(row.read::<$part>()?,)+))
            }
        }
    )*};
}

tuples! { (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) }

/// The placeholders of the longest statement of fixed length.
const PLACES: &str = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, \
     ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46, \
     ?47, ?48, ?49, ?50, ?51, ?52, ?53, ?54, ?55, ?56, ?57, ?58, ?59, ?60, ";

/// `count` placeholders from number `first` on: `?4, ?5, ?6`.
pub(crate) const fn places(first: usize, count: usize) -> &'static str {
    const fn end_of(place: usize) -> usize {
        if place < 10 { 4 * place } else { 36 + 5 * (place - 9) }
    }
    let (through, _) = PLACES.split_at(end_of(first + count - 1) - 2);
    through.split_at(end_of(first - 1)).1
}

/// The names of a list (separated by `, `) up to and including `last`, and their number.
pub(crate) const fn names_up_to(list: &'static str, last: &str) -> (&'static str, usize) {
    let (bytes, last) = (list.as_bytes(), last.as_bytes());
    let (mut start, mut at, mut count) = (0, 0, 0);
    while at <= bytes.len() {
        if at == bytes.len() || bytes[at] == b',' {
            count += 1;
            let mut same = at - start == last.len();
            let mut offset = 0;
            while same && offset < last.len() {
                same = bytes[start + offset] == last[offset];
                offset += 1;
            }
            if same {
                return (list.split_at(at).0, count);
            }
            start = at + 2;
        }
        at += 1;
    }
    panic!("the list has no such name")
}

/// Declares a type of row: its fields, their columns, how they are read and, for a row of one table, how they are written.
///
/// ```text
/// row! {
///     /// A thing as stored.
///     #[derive(Debug, Clone)]
///     pub struct ThingRow in "things" as "t" {
///         /// A field of the same name as its column.
///         id: Id<Thing>,
///         /// A field of another name, or one that is computed (`as "count(*)"`).
///         kind: String as "type",
///         /// A field made of several columns, each with the expression that it is written with; without one it
///         /// is only read. The last expression makes the field, from any columns of the row.
///         due: Option<Due> = |due| {
///             due_at: Option<Timestamp> = due.map(|due| due.at),
///             due_why: Option<Why>,
///         } => due_at.map(|at| Due { at, why: due_why }),
///     }
///     // Columns that an insert writes beside the fields.
///     insert with { workspace: Tenant, hash: &'v str }
/// }
/// ```
///
/// A `workspace` that an insert writes beside the fields is the first column, and comes from the
/// [`TenantTx`](crate::TenantTx): it is not among the `values`.
///
/// The type gets `COLUMNS` (a list to select or return), [`FromRow`]; with `as`, `SELECT` (the same list, each
/// with the alias of the table); with `in`, `INTO` (`insert into … (…)`), `INSERT` (the whole statement) and
/// `values` (its parameters).
macro_rules! row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(in $table:literal $(as $alias:literal)?)? { $($fields:tt)* }
        insert with { workspace: Tenant $(, $extra:ident: $extra_type:ty)* $(,)? }
    ) => {
        $crate::db::row::row! {
            @fields ($(#[$meta])* $vis) $name [$($table $($alias)?)?] { ("workspace") $($extra: $extra_type,)* } {} $($fields)*
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(in $table:literal $(as $alias:literal)?)? { $($fields:tt)* }
        $(insert with { $($extra:ident: $extra_type:ty),+ $(,)? })?
    ) => {
        $crate::db::row::row! {
            @fields ($(#[$meta])* $vis) $name [$($table $($alias)?)?] { () $($($extra: $extra_type,)+)? } {} $($fields)*
        }
    };
    (@fields $head:tt $name:ident $table:tt $extra:tt { $($done:tt)* }
        $(#[$doc:meta])* $field:ident: $type:ty = |$of:pat_param| {
            $($column:ident: $column_type:ty $(as $sql:literal)? $(= $written:expr)?),+ $(,)?
        } => $made:expr, $($rest:tt)*
    ) => {
        $crate::db::row::row! {
            @fields $head $name $table $extra {
                $($done)*
                [($(#[$doc])*) $field, $type, $of, {
                    $($column, $column_type, ($column $($sql)?) $(= $written)?;)+
                }, $made]
            } $($rest)*
        }
    };
    (@fields $head:tt $name:ident $table:tt $extra:tt { $($done:tt)* }
        $(#[$doc:meta])* $field:ident: $type:ty $(as $sql:literal)?, $($rest:tt)*
    ) => {
        $crate::db::row::row! {
            @fields $head $name $table $extra {
                $($done)*
                [($(#[$doc])*) $field, $type, $field, {
                    $field, $type, ($field $($sql)?) = $crate::db::Column::store($field);
                }, $field]
            } $($rest)*
        }
    };
    (@fields ($(#[$meta:meta])* $vis:vis) $name:ident $table:tt $extra:tt {
        $([($(#[$doc:meta])*) $field:ident, $type:ty, $of:pat_param, {
            $($column:ident, $column_type:ty, $sql:tt $(= $written:expr)?;)+
        }, $made:expr])+
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl $name {
            /// Its columns in the order in which they are read.
            #[allow(dead_code, reason = "some rows are only inserted")]
            pub(crate) const COLUMNS: &str = concat!($($(", ", $crate::db::row::row!(@sql $sql),)+)+).split_at(2).1;
        }

        impl $crate::db::FromRow for $name {
            fn from_row(row: &mut $crate::db::Row<'_>) -> Result<Self, $crate::db::DbError> {
                $($(let $column: $column_type = row.read()?;)+)+
                Ok(Self { $($field: $made,)+ })
            }
        }

        $crate::db::row::row! { @select $name $table { $($($sql)+)+ } }
        $crate::db::row::row! { @table $name $table $extra {
            $([$field, $of, { $($($sql = $written;)?)+ }])+
        } }
    };
    (@sql ($column:ident)) => { stringify!($column) };
    (@sql ($column:ident $sql:literal)) => { $sql };
    (@select $name:ident [$table:literal $alias:literal] { $($sql:tt)+ }) => {
        impl $name {
            /// Its columns, of the table under its alias.
            pub(crate) const SELECT: &str = concat!($(", ", $alias, ".", $crate::db::row::row!(@sql $sql),)+).split_at(2).1;
        }
    };
    (@select $($other:tt)*) => {};
    (@table $name:ident [$table:literal $($alias:literal)?] { ($($tenant:literal)?) $($extra:ident: $extra_type:ty,)* } {
        $([$field:ident, $of:pat_param, { $($sql:tt = $written:expr;)* }])+
    }) => {
        #[allow(dead_code, reason = "some rows are only inserted by themselves, others only with many")]
        impl $name {
            /// Its values without the workspace, if [`TenantTx`](crate::TenantTx) gives that.
            const WIDTH: usize = [$($($crate::db::row::row!(@sql $sql),)*)+ $(stringify!($extra),)*].len();

            /// `insert into … (…)`, to be followed by values.
            pub(crate) const INTO: &str = const_format::formatcp!(
                "insert into {} ({})",
                $table,
                concat!($(", ", $tenant,)? $($(", ", $crate::db::row::row!(@sql $sql),)*)+ $(", ", stringify!($extra),)*).split_at(2).1
            );

            /// Inserts one row, given its values.
            pub(crate) const INSERT: &str = const_format::formatcp!(
                "{} values ({})",
                $name::INTO,
                $crate::db::row::places(1, $name::WIDTH + !concat!($($tenant)?).is_empty() as usize)
            );

            /// What [`Self::INSERT`] writes.
            pub(crate) fn values<'v>(&'v self $(, $extra: $extra_type)*) -> [$crate::Value<'v>; Self::WIDTH] {
                let Self { $($field,)+ } = self;
                $(let $of = $field;)+
                [$($($crate::Value::from($written),)*)+ $($crate::Value::from($extra),)*]
            }
        }

        $crate::db::row::row! { @values_of $name [$($tenant)?] { $($extra: $extra_type,)* } {
            $([$field, $of, { $($written;)* }])+
        } }
    };
    (@values_of $name:ident [$tenant:literal] { $($extra:ident: $extra_type:ty,)* } {
        $([$field:ident, $of:pat_param, { $($written:expr;)* }])+
    }) => {
        #[allow(dead_code, reason = "most are inserted by transactions of their workspace")]
        impl $name {
            /// What [`Self::INSERT`] writes, for a transaction that is not bound to the workspace.
            pub(crate) fn values_of<'v>(
                &'v self, workspace: domain::tenant::Tenant $(, $extra: $extra_type)*
            ) -> [$crate::Value<'v>; Self::WIDTH + 1] {
                let Self { $($field,)+ } = self;
                $(let $of = $field;)+
                [$crate::Value::from(workspace), $($($crate::Value::from($written),)*)+ $($crate::Value::from($extra),)*]
            }
        }
    };
    (@values_of $($other:tt)*) => {};
    (@table $($other:tt)*) => {};
}

pub(crate) use row;

/// Builds an update, as statement and parameters, of at least two columns, each beside its value. The parameters of the
/// condition come first.
///
/// ```text
/// let (sql, values) = update!("parts" set { name: &row.name, colour: row.colour } where "thing = ?1", row.thing);
/// ```
///
/// `of tenant`, for a [`TenantTx`](crate::TenantTx), adds the condition that the row is of its workspace, `?1`.
///
/// ```text
/// let (sql, values) = update!("things" of tenant set { name: &row.name, colour: row.colour } where "id = ?2", row.id);
/// ```
///
/// `up to` builds several statements, each of which sets the columns up to one, with the number of its parameters.
///
/// ```text
/// let ([renamed, painted], values) = update!("things" set { … } where …; up to name, colour);
/// tx.exec(renamed.0, &values[..renamed.1])
/// ```
macro_rules! update {
    ($table:literal of tenant set { $($column:ident: $value:expr),+ $(,)? } $(and $more:literal)? where $condition:literal,
        $($param:expr),+
    ) => {{
        const NAMES: &str = concat!($(", ", stringify!($column)),+).split_at(2).1;
        const PARAMS: usize = 1 + [$(stringify!($param)),+].len();
        const SQL: &str = const_format::formatcp!(
            "update {} set ({}) = ({}){} where workspace = ?1 and {}",
            $table,
            NAMES,
            $crate::db::row::places(PARAMS + 1, [$(stringify!($column)),+].len()),
            concat!($(", ", $more)?),
            $condition
        );
        (SQL, [$($crate::Value::from($param),)+ $($crate::Value::from($value),)+])
    }};
    ($table:literal set { $($column:ident: $value:expr),+ $(,)? } $(and $more:literal)? where $condition:literal,
        $($param:expr),+; up to $($last:ident),+
    ) => {{
        const NAMES: &str = concat!($(", ", stringify!($column)),+).split_at(2).1;
        const PARAMS: usize = [$(stringify!($param)),+].len();
        const MORE: &str = concat!($(", ", $more)?);
        let statements = [$({
            const SET: (&str, usize) = $crate::db::row::names_up_to(NAMES, stringify!($last));
            const SQL: &str = const_format::formatcp!(
                "update {} set ({}) = ({}){} where {}",
                $table,
                SET.0,
                $crate::db::row::places(PARAMS + 1, SET.1),
                MORE,
                $condition
            );
            (SQL, PARAMS + SET.1)
        }),+];
        (statements, [$($crate::Value::from($param),)+ $($crate::Value::from($value),)+])
    }};
    ($table:literal set { $($column:ident: $value:expr),+ $(,)? } $(and $more:literal)? where $condition:literal,
        $($param:expr),+
    ) => {{
        const NAMES: &str = concat!($(", ", stringify!($column)),+).split_at(2).1;
        const PARAMS: usize = [$(stringify!($param)),+].len();
        const SQL: &str = const_format::formatcp!(
            "update {} set ({}) = ({}){} where {}",
            $table,
            NAMES,
            $crate::db::row::places(PARAMS + 1, [$(stringify!($column)),+].len()),
            concat!($(", ", $more)?),
            $condition
        );
        (SQL, [$($crate::Value::from($param),)+ $($crate::Value::from($value),)+])
    }};
}

pub(crate) use update;

#[cfg(test)]
mod tests {
    use super::{names_up_to, places};

    #[test]
    fn placeholders_count_on() {
        assert_eq!(places(1, 1), "?1");
        assert_eq!(places(8, 4), "?8, ?9, ?10, ?11");
        assert_eq!(places(47, 2), "?47, ?48");
    }

    #[test]
    fn lists_end_at_a_name() {
        assert_eq!(names_up_to("at, seat, c", "at"), ("at", 1));
        assert_eq!(names_up_to("at, seat, c", "seat"), ("at, seat", 2));
        assert_eq!(names_up_to("at, seat, c", "c"), ("at, seat, c", 3));
    }
}
