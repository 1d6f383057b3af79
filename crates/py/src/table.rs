//! `slantpath.Table`: a table of results, readable by everything that takes Arrow data.

use std::path::PathBuf;

use arrow_array::ffi::FFI_ArrowSchema;
use pyo3::exceptions::{PyImportError, PyKeyError, PyModuleNotFoundError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyTuple, PyType};
use slantpath_results::{CellValue, Column, TextColumn, TypedColumn, Values};

use crate::arrow;
use crate::os_error::os_error;

/// Columns whose names a table is represented by.
const SHOWN_NAMES: usize = 8;
/// Rows that a notebook shows.
const SHOWN_ROWS: usize = 10;

/// A module that not everybody has.
fn needed<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|error| {
        if error.is_instance_of::<PyModuleNotFoundError>(py) {
            PyImportError::new_err(format!("this needs {name}: pip install {name}"))
        } else {
            error
        }
    })
}

/// A cell as a person reads it: nothing where it is missing.
fn shown(cell: CellValue<'_>) -> String {
    match cell {
        CellValue::Bool(flag) => flag.to_string(),
        CellValue::F64(number) => number.to_string(),
        CellValue::I64(number) => number.to_string(),
        CellValue::Missing => String::new(),
        CellValue::Text(text) => text.to_owned(),
        CellValue::U64(number) => number.to_string(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table of results: columns of one type each, whose unit stands last in their name.
#[pyclass(module = "slantpath._native", frozen, eq)]
#[derive(Debug, PartialEq)]
pub(crate) struct Table(pub(crate) slantpath_results::Table);

#[pymethods]
impl Table {
    /// A table of `(name, type, cells)`, for example `("delay_s", "f64", [0.25, None])`.
    #[classmethod]
    fn of(
        _class: &Bound<'_, PyType>,
        name: &str,
        columns: Vec<(String, String, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        let columns = columns
            .iter()
            .map(|(name, type_name, cells)| column(name, type_name, cells))
            .collect::<PyResult<Vec<_>>>()?;
        table_of(slantpath_results::Table::new(name, columns))
    }

    /// The rows of all parts one below the other.
    #[classmethod]
    fn stacked(_class: &Bound<'_, PyType>, name: &str, parts: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        table_of(slantpath_results::Table::stacked(name, parts.iter().map(|part| part.0.clone())))
    }

    /// The table with columns in front that hold one value each, to tell its rows from those of other runs.
    fn keyed(&self, keys: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let rows = self.0.rows();
        let keys =
            keys.iter().map(|(name, value)| repeated(name, value, rows)).collect::<PyResult<Vec<_>>>()?;
        table_of(self.0.clone().keyed(keys))
    }

    /// Name of the table, by its rows: `messages`, `links`.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.0.columns().iter().map(Column::name).collect()
    }

    /// The unit of each column that has one.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        for column in self.0.columns() {
            if !column.unit().symbol().is_empty() {
                units.set_item(column.name(), column.unit().symbol())?;
            }
        }
        Ok(units)
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.0.rows()
    }

    /// The cells of a column as a list, `None` where one is missing.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let Some(found) = self.0.column(column) else {
            let names = self.column_names().join(", ");
            return Err(PyKeyError::new_err(format!(
                "table `{}` has no column `{column}`; it has {names}",
                self.0.name()
            )));
        };
        cells(py, found)
    }

    fn __repr__(&self) -> String {
        let names = self.column_names();
        let shown = names.iter().take(SHOWN_NAMES).copied().collect::<Vec<_>>().join(", ");
        let more = match names.len().saturating_sub(SHOWN_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more columns"),
        };
        format!("<Table {}: {} rows of {shown}{more}>", self.0.name(), self.0.rows())
    }

    /// Shows the first rows to a notebook.
    fn _repr_html_(&self) -> String {
        let columns = self.0.columns();
        let head: Vec<String> = columns.iter().map(|column| escaped(column.name())).collect();
        let cells = |row: usize| {
            let cells: Vec<String> = columns.iter().map(|column| escaped(&shown(column.at(row)))).collect();
            format!("<tr><td>{}</td></tr>", cells.join("</td><td>"))
        };
        let rows: Vec<String> = (0..self.0.rows().min(SHOWN_ROWS)).map(cells).collect();
        let more = match self.0.rows() {
            rows if rows > SHOWN_ROWS => format!("<p>{SHOWN_ROWS} of {rows} rows</p>"),
            _ => String::new(),
        };
        let (head, rows) = (head.join("</th><th scope=\"col\">"), rows.concat());
        format!(
            "<table><thead><tr><th scope=\"col\">{head}</th></tr></thead><tbody>{rows}</tbody></table>{more}"
        )
    }

    /// Gives the table as a `pandas.DataFrame`. Raises `ImportError` without pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        needed(py, "pandas")?;
        py.import("pyarrow")?.getattr("table")?.call1((slf,))?.call_method0("to_pandas")
    }

    /// Gives the table as a `polars.DataFrame`. Raises `ImportError` without polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        needed(slf.py(), "polars")?.getattr("DataFrame")?.call1((slf,))
    }

    /// Writes the table whole or not at all, as `.parquet`, `.csv` or `.jsonl`.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        slantpath_results::Format::of_path(&path)
            .map_err(|unknown| PyValueError::new_err(unknown.to_string()))?;
        py.detach(|| slantpath_results::write_table_file(&self.0, &path))
            .map_err(|error| os_error(&error, &path))
    }

    /// The Arrow PyCapsule interface: the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(arrow::schema(&self.0)).map_err(arrow_error)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The Arrow PyCapsule interface: the data. A request for another schema may be ignored, and is.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let stream = arrow::stream(&self.0).map_err(arrow_error)?;
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Gives the parts of a pickle, which is read through [`Table::of`].
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let columns = self
            .0
            .columns()
            .iter()
            .map(|column| (column.name(), column.values().type_name(), cells(py, column)?).into_pyobject(py))
            .collect::<PyResult<Vec<_>>>()?;
        (py.get_type::<Self>().getattr("of")?, (self.0.name(), columns)).into_pyobject(py)
    }
}

fn table_of(table: Result<slantpath_results::Table, slantpath_results::TableError>) -> PyResult<Table> {
    table.map(Table).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn repeated(name: &str, value: &Bound<'_, PyAny>, rows: usize) -> PyResult<Column> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(TypedColumn::repeated(name, flag.is_true(), rows).into());
    }
    if let Ok(number) = value.cast::<PyInt>() {
        return Ok(TypedColumn::<u64>::repeated(name, number.extract()?, rows).into());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(TypedColumn::repeated(name, number.value(), rows).into());
    }
    Ok(TextColumn::repeated(name, &value.extract::<String>()?, rows).into())
}

fn arrow_error(error: arrow_schema::ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn cells<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyList>> {
    let cells = (0..column.len())
        .map(|row| {
            Ok(match column.at(row) {
                CellValue::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
                CellValue::F64(number) => number.into_pyobject(py)?.into_any(),
                CellValue::I64(number) => number.into_pyobject(py)?.into_any(),
                CellValue::Missing => py.None().into_bound(py),
                CellValue::Text(text) => text.into_pyobject(py)?.into_any(),
                CellValue::U64(number) => number.into_pyobject(py)?.into_any(),
            })
        })
        .collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, cells)
}

fn column(name: &str, type_name: &str, cells: &Bound<'_, PyAny>) -> PyResult<Column> {
    Ok(match type_name {
        "bool" => Column::new(name, Values::Bool(extracted(cells)?.into_iter().collect())),
        "f64" => Column::new(name, Values::F64(extracted(cells)?.into_iter().collect())),
        "i64" => Column::new(name, Values::I64(extracted(cells)?.into_iter().collect())),
        "text" => {
            let mut column = TextColumn::new(name);
            for cell in extracted::<String>(cells)? {
                column.push_optional(cell.as_deref());
            }
            column.into()
        }
        "u64" => {
            let mut column = TypedColumn::<u64>::new(name);
            for cell in extracted(cells)? {
                column.push_optional(cell);
            }
            column.into()
        }
        other => {
            return Err(PyTypeError::new_err(format!(
                "column `{name}` cannot be `{other}`: a column is `bool`, `f64`, `i64`, `text` or `u64`"
            )));
        }
    })
}

fn extracted<T: for<'a, 'py> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    cells: &Bound<'_, PyAny>,
) -> PyResult<Vec<Option<T>>> {
    cells.try_iter()?.map(|cell| cell?.extract::<Option<T>>().map_err(Into::into)).collect()
}
