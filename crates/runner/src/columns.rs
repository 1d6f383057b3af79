//! Columns of a table, declared once: name, unit, cells and meaning. The struct that is filled, the table that comes of
//! it and its page in `docs/tables.md` follow from the declaration.

use slantpath_results::{Column, ColumnUnit, TextColumn, TypedColumn};

/// Column of words.
pub(crate) type Text = TextColumn;
/// Column of counts, or of sizes in whole bytes.
pub(crate) type Count = TypedColumn<u64>;
/// Column of measures.
pub(crate) type Number = TypedColumn<f64>;

/// Column of a table as it is declared. A table has all of its columns in every run; a cell is missing where it means
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnDeclaration {
    /// Name, unit last.
    pub name: String,
    /// Kind of the cells: `string`, `count` or `number`.
    pub cells: &'static str,
    /// Meaning, in a sentence or two.
    pub meaning: String,
}

impl ColumnDeclaration {
    fn new(name: impl Into<String>, cells: &'static str, meaning: &str) -> Self {
        Self { name: name.into(), cells, meaning: meaning.trim().to_owned() }
    }

    /// Unit of the cells, which is the end of the name.
    pub fn unit(&self) -> ColumnUnit {
        ColumnUnit::of_name(&self.name)
    }
}

/// Declarations of all columns that `F` stands for, in their order.
pub(crate) fn declared<F: Field<Names = ()>>() -> Vec<ColumnDeclaration> {
    let mut declared = Vec::new();
    F::declare(&(), &mut declared);
    declared
}

/// Names and meanings of columns that are alike: one for each reason, part or type.
pub(crate) type Family = Vec<(String, String)>;

/// Cells of one column, empty at first.
pub(crate) trait Cells: Into<Column> {
    /// Kind of the cells, as [`ColumnDeclaration::cells`] says it.
    const KIND: &'static str;

    /// Column without cells.
    fn named(name: &str) -> Self;
}

impl Cells for Text {
    const KIND: &'static str = "string";

    fn named(name: &str) -> Self {
        Self::new(name)
    }
}

impl Cells for Count {
    const KIND: &'static str = "count";

    fn named(name: &str) -> Self {
        Self::new(name)
    }
}

impl Cells for Number {
    const KIND: &'static str = "number";

    fn named(name: &str) -> Self {
        Self::new(name)
    }
}

/// Field of a declaration: one column, a family of them, or those of another declaration.
pub(crate) trait Field: Sized {
    /// Source of its names and meanings.
    type Names;

    /// Field without cells.
    fn empty(names: &Self::Names) -> Self;

    /// Adds its declarations.
    fn declare(names: &Self::Names, to: &mut Vec<ColumnDeclaration>);

    /// Adds its columns.
    fn give(self, to: &mut Vec<Column>);
}

impl<C: Cells> Field for C {
    type Names = (&'static str, &'static str);

    fn empty((name, _): &Self::Names) -> Self {
        Self::named(name)
    }

    fn declare((name, meaning): &Self::Names, to: &mut Vec<ColumnDeclaration>) {
        to.push(ColumnDeclaration::new(*name, C::KIND, meaning));
    }

    fn give(self, to: &mut Vec<Column>) {
        to.push(self.into());
    }
}

impl<C: Cells> Field for Vec<C> {
    type Names = Family;

    fn empty(names: &Self::Names) -> Self {
        names.iter().map(|(name, _)| C::named(name)).collect()
    }

    fn declare(names: &Self::Names, to: &mut Vec<ColumnDeclaration>) {
        to.extend(names.iter().map(|(name, meaning)| ColumnDeclaration::new(name, C::KIND, meaning)));
    }

    fn give(self, to: &mut Vec<Column>) {
        to.extend(self.into_iter().map(Into::into));
    }
}

/// Declares the columns of a table. The comment of a field is the meaning of the column, and its name the column's. A
/// field `name: Vec<Count> = family()` stands for the columns that the [`Family`] names, a field `name: Others = ()`
/// for those of another declaration.
///
/// The struct has `new()`, and `finish(kind)`, which makes the table.
macro_rules! columns {
    (@names $field:ident $meaning:expr) => { (stringify!($field), $meaning) };
    (@names $field:ident $meaning:expr, $family:expr) => { $family };
    (
        $(#[doc = $about:literal])+
        $visibility:vis struct $Name:ident {
            $( $(#[doc = $meaning:literal])+ $field:ident: $Cells:ty $(= $family:expr)?, )+
        }
    ) => {
        $(#[doc = $about])+
        #[allow(clippy::struct_field_names, reason = "columns are called as they are")]
        $visibility struct $Name {
            $( $(#[doc = $meaning])+ $visibility $field: $Cells, )+
        }

        #[allow(dead_code, reason = "columns that stand within others are no table")]
        impl $Name {
            /// Columns without cells.
            $visibility fn new() -> Self {
                <Self as $crate::columns::Field>::empty(&())
            }

            /// Table of this kind with all that was filled in.
            ///
            /// # Panics
            /// If columns differ in length.
            $visibility fn finish(self, kind: $crate::output::TableKind) -> slantpath_results::Table {
                let mut columns = Vec::new();
                $crate::columns::Field::give(self, &mut columns);
                kind.table(columns)
            }
        }

        impl $crate::columns::Field for $Name {
            type Names = ();

            fn empty((): &()) -> Self {
                Self {
                    $( $field: $crate::columns::Field::empty(
                        &$crate::columns::columns!(@names $field concat!($($meaning),+) $(, $family)?),
                    ), )+
                }
            }

            fn declare((): &(), to: &mut Vec<$crate::columns::ColumnDeclaration>) {
                $( <$Cells as $crate::columns::Field>::declare(
                    &$crate::columns::columns!(@names $field concat!($($meaning),+) $(, $family)?),
                    to,
                ); )+
            }

            fn give(self, to: &mut Vec<slantpath_results::Column>) {
                $( $crate::columns::Field::give(self.$field, to); )+
            }
        }
    };
}
pub(crate) use columns;

/// Fills a row of columns that are alike with a cell each.
///
/// # Panics
/// If there are fewer cells than columns, or more.
pub(crate) fn push_each<T: slantpath_results::Cell>(
    columns: &mut [TypedColumn<T>],
    cells: impl IntoIterator<Item = Option<T>>,
) {
    let mut cells = cells.into_iter();
    for column in columns {
        column.push_optional(cells.next().expect("a cell for each column"));
    }
    assert!(cells.next().is_none(), "a cell without a column");
}

/// Family of columns with a name and a meaning for each of `members`.
pub(crate) fn family<T>(
    members: impl IntoIterator<Item = T>,
    describe: impl Fn(T) -> (String, String),
) -> Family {
    members.into_iter().map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::TableKind;

    columns! {
        /// Columns of a table.
        struct Example {
            /// Name of the link.
            link: Text,
            /// Packets that were dropped, by
            /// reason.
            dropped: Vec<Count> = family(["loss", "mtu"], |reason| {
                (format!("dropped_{reason}_packets"), format!("Packets dropped: {reason}."))
            }),
            /// Mean of the delays.
            delay_mean_s: Number,
        }
    }

    #[test]
    fn a_table_has_the_columns_that_are_declared() {
        let mut columns = Example::new();
        columns.link.push("l");
        push_each(&mut columns.dropped, [Some(1), None]);
        columns.delay_mean_s.push(0.5);
        let table = columns.finish(TableKind::Links);
        let names: Vec<&str> = table.columns().iter().map(Column::name).collect();
        assert_eq!(names, ["link", "dropped_loss_packets", "dropped_mtu_packets", "delay_mean_s"]);
        let declared = declared::<Example>();
        let declared: Vec<_> = declared.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(declared, names);
        assert_eq!(table.columns()[1].at(0), slantpath_results::CellValue::U64(1));
        assert_eq!(table.columns()[2].at(0), slantpath_results::CellValue::Missing);
    }

    #[test]
    fn a_declaration_says_cells_unit_and_meaning() {
        let [link, loss, _, delay] = <[_; 4]>::try_from(declared::<Example>()).unwrap();
        assert_eq!((link.cells, link.unit()), ("string", ColumnUnit::None));
        assert_eq!((loss.cells, loss.unit()), ("count", ColumnUnit::Packets));
        assert_eq!((delay.cells, delay.unit()), ("number", ColumnUnit::Seconds));
        assert_eq!(link.meaning, "Name of the link.");
        assert_eq!(loss.meaning, "Packets dropped: loss.");
        assert_eq!(delay.meaning, "Mean of the delays.");
    }

    #[test]
    #[should_panic(expected = "a cell without a column")]
    fn a_cell_without_a_column_is_a_fault() {
        push_each(&mut Example::new().dropped, [Some(1), Some(2), Some(3)]);
    }
}
