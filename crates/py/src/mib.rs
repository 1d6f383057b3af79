//! Rows of the SCTP MIB as dicts: each value by its name of RFC 3873, in the unit that it has there.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use slantpath_live::{MibAssociation, MibLocalAddress, MibRemAddress, MibValue};

/// An association, with the rows of its addresses.
pub(crate) fn association<'py>(py: Python<'py>, row: &MibAssociation) -> PyResult<Bound<'py, PyDict>> {
    let dict = dict(py, &row.named())?;
    let local = row.local_addresses.iter().map(MibLocalAddress::named);
    let local = local.map(|named| self::dict(py, &named)).collect::<PyResult<Vec<_>>>()?;
    let remote = row.rem_addresses.iter().map(MibRemAddress::named);
    let remote = remote.map(|named| self::dict(py, &named)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("sctpAssocLocalAddrTable", local)?;
    dict.set_item("sctpAssocRemAddrTable", remote)?;
    Ok(dict)
}

fn dict<'py>(py: Python<'py>, named: &[(&str, MibValue)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for &(name, value) in named {
        match value {
            MibValue::Address(address) => {
                dict.set_item(name, address.map(|address| address.to_string()))?;
            }
            MibValue::Number(number) => dict.set_item(name, number)?,
            MibValue::Truth(truth) => dict.set_item(name, truth)?,
            MibValue::Word(word) => dict.set_item(name, word)?,
        }
    }
    Ok(dict)
}
