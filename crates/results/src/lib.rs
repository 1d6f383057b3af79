//! Tables with units, statistics and the sinks that write them: CSV, JSON and Parquet.
//!
//! A [`Table`] is what every run, sweep and study hands on: named columns of one type each, whose unit stands
//! last in their name (`delay_s`, `size_bytes`). It knows no model. What a column means is said by the
//! component that fills it.
//!
//! # Map
//!
//! - [`table`][]: [`Table`], with units in column names. [`statistics`]: intervals of confidence, quantiles,
//!   histograms.
//! - [`sink`][]: CSV, JSON lines and Parquet, written whole or not at all.
//! - [`spool`][]: a table that is too long to be held lies in one file of many streams. They are written interleaved
//!   and read one after the other. [`long_table`] makes the same files of it, some thousands of rows at a time.
//!
//! Outside this crate only `slantpath_py` knows Arrow and Parquet.

mod cells;
mod codec;
mod column;
mod lock;
mod long_table;
mod sink;
mod spool;
mod statistics;
mod store;
mod table;
mod unit;
mod validity;

pub use cells::{Cell, Numbers, TextValues, Values};
pub use column::{CellValue, Column, TextColumn, TypedColumn};
pub use lock::{DirectoryLock, LockError};
pub use long_table::{LongTable, SpooledTable};
pub use sink::{
    Format, PartialFile, UnknownFormat, write_csv, write_file, write_json_lines, write_long_table,
    write_parquet, write_table, write_table_file,
};
pub use spool::{Spool, SpoolBlock, SpoolFile};
pub use statistics::{
    Bin, ConfidenceInterval, Histogram, Moments, Precision, Proportion, Quantiles, StoppingRule,
    TimeWeighted, WantedPrecision, WeightedMean, batch_means, median, quantile, quantiles_in_passes,
    student_t_cdf, student_t_quantile,
};
pub use store::{StoreError, clear_store};
pub use table::{Table, TableError};
pub use unit::ColumnUnit;
