//! Reads responses with arrow-rs. See test/readers/README.md.
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{read_to_string, write, File};
use std::io::BufReader;

fn main() -> Result<(), Box<dyn Error>> {
    let tasks = std::env::args().nth(1).ok_or("the list of tasks is missing")?;
    for line in read_to_string(tasks)?.lines() {
        let [reader, input, output, ..] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("a task has four fields: {line}").into());
        };
        let dump = match read(reader, input) {
            Ok(dump) => dump,
            Err(error) => format!("refused: {error}"),
        };
        write(output, dump)?;
    }
    Ok(())
}

fn read(reader: &str, input: &str) -> Result<String, Box<dyn Error>> {
    let file = File::open(input)?;
    match reader {
        "arrow" => dumped(StreamReader::try_new(BufReader::new(file), None)?),
        "parquet" => dumped(ParquetRecordBatchReaderBuilder::try_new(file)?.build()?),
        _ => Err(format!("no reader {reader}").into()),
    }
}

fn dumped(
    batches: impl RecordBatchReader + Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<String, Box<dyn Error>> {
    let schema = batches.schema();
    let mut dump = String::new();
    for (i, field) in schema.fields().iter().enumerate() {
        let kind = match field.data_type() {
            DataType::Utf8 => "text",
            DataType::Float64 => "float",
            DataType::Int64 => "int",
            other => return Err(format!("{} is {other}", field.name()).into()),
        };
        let tab = if i == 0 { "" } else { "\t" };
        write!(dump, "{tab}{}:{kind}", field.name())?;
    }
    dump.push('\n');
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            for (i, column) in batch.columns().iter().enumerate() {
                dump.push_str(if i == 0 { "" } else { "\t" });
                if column.is_null(row) {
                    dump.push('-');
                } else if let Some(texts) = column.as_string_opt::<i32>() {
                    dump.push('t');
                    for byte in texts.value(row).bytes() {
                        write!(dump, "{byte:02x}")?;
                    }
                } else if let Some(floats) = column.as_primitive_opt::<Float64Type>() {
                    write!(dump, "f{:016x}", floats.value(row).to_bits())?;
                } else {
                    write!(dump, "i{}", column.as_primitive::<Int64Type>().value(row))?;
                }
            }
            dump.push('\n');
        }
    }
    Ok(dump)
}
