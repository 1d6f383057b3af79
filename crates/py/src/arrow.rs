//! Our tables as Arrow data, for anything that speaks the Arrow C interface.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchOptions, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use slantpath_results::{Column, Table, Values};

/// The schema of a table. Each field with a unit carries it as metadata `unit`, the schema carries the
/// table's name as `slantpath.table`. Every column may hold missing cells.
pub(crate) fn schema(table: &Table) -> Schema {
    let fields: Vec<Field> = table.columns().iter().map(field).collect();
    let metadata = HashMap::from([("slantpath.table".to_owned(), table.name().to_owned())]);
    Schema::new_with_metadata(fields, metadata)
}

/// The table as a stream of one batch.
pub(crate) fn stream(table: &Table) -> Result<FFI_ArrowArrayStream, ArrowError> {
    let schema = Arc::new(schema(table));
    let arrays = table.columns().iter().map(array).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(table.rows()));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)?;
    Ok(FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema))))
}

fn field(column: &Column) -> Field {
    let data_type = match column.values() {
        Values::Bool(_) => DataType::Boolean,
        Values::F64(_) => DataType::Float64,
        Values::I64(_) => DataType::Int64,
        Values::Text(_) => DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8)),
        Values::U64(_) => DataType::UInt64,
    };
    let field = Field::new(column.name(), data_type, true);
    match column.unit().symbol() {
        "" => field,
        symbol => field.with_metadata(HashMap::from([("unit".to_owned(), symbol.to_owned())])),
    }
}

fn array(column: &Column) -> ArrayRef {
    match column.values() {
        Values::Bool(numbers) => Arc::new(numbers.iter().collect::<BooleanArray>()),
        Values::F64(numbers) => Arc::new(numbers.iter().collect::<Float64Array>()),
        Values::I64(numbers) => Arc::new(numbers.iter().collect::<Int64Array>()),
        Values::Text(texts) => {
            let keys: UInt32Array = texts.codes().iter().collect();
            let words: StringArray = texts.dictionary().map(Some).collect();
            Arc::new(DictionaryArray::<UInt32Type>::new(keys, Arc::new(words)))
        }
        Values::U64(numbers) => Arc::new(numbers.iter().collect::<UInt64Array>()),
    }
}
