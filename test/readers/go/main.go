// Reads responses with arrow-go, parquet-go and Go's own packages. See test/readers/README.md.
package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"
)

type column struct{ name, kind string }

// A reader gets the columns that a format without types lacks.
var readers = map[string]func(file *os.File, columns []column, out *bytes.Buffer) error{
	"arrow": readArrow, "parquet": readParquet, "csv": readCSV, "json": readJSON, "ndjson": readNDJSON,
}

func main() {
	tasks, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(tasks)) {
		task := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var columns []column
		for _, field := range task[3:] {
			name, kind, _ := strings.Cut(field, ":")
			columns = append(columns, column{name, kind})
		}
		if err := os.WriteFile(task[2], read(task[0], task[1], columns), 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

func read(reader, input string, columns []column) []byte {
	file, err := os.Open(input)
	if err != nil {
		return []byte("refused: " + err.Error())
	}
	defer file.Close()
	var out bytes.Buffer
	if err := readers[reader](file, columns, &out); err != nil {
		return []byte("refused: " + err.Error())
	}
	return out.Bytes()
}

func writeHead(out *bytes.Buffer, columns []column) {
	for i, column := range columns {
		if i > 0 {
			out.WriteByte('\t')
		}
		out.WriteString(column.name + ":" + column.kind)
	}
	out.WriteByte('\n')
}

func writeRow(out *bytes.Buffer, values []any) error {
	for i, value := range values {
		if i > 0 {
			out.WriteByte('\t')
		}
		switch value := value.(type) {
		case nil:
			out.WriteByte('-')
		case string:
			fmt.Fprintf(out, "t%x", value)
		case float64:
			fmt.Fprintf(out, "f%016x", math.Float64bits(value))
		case int64:
			fmt.Fprintf(out, "i%d", value)
		default:
			return fmt.Errorf("a value of type %T", value)
		}
	}
	out.WriteByte('\n')
	return nil
}

func readArrow(file *os.File, _ []column, out *bytes.Buffer) error {
	reader, err := ipc.NewReader(bufio.NewReader(file))
	if err != nil {
		return err
	}
	defer reader.Release()
	var columns []column
	for _, field := range reader.Schema().Fields() {
		kinds := map[arrow.Type]string{arrow.STRING: "text", arrow.FLOAT64: "float", arrow.INT64: "int"}
		columns = append(columns, column{field.Name, kinds[field.Type.ID()]})
	}
	writeHead(out, columns)
	row := make([]any, len(columns))
	for reader.Next() {
		batch := reader.RecordBatch()
		for i := range int(batch.NumRows()) {
			for j, values := range batch.Columns() {
				row[j] = valueAt(values, i)
			}
			if err := writeRow(out, row); err != nil {
				return err
			}
		}
	}
	return reader.Err()
}

func valueAt(values arrow.Array, i int) any {
	if values.IsNull(i) {
		return nil
	}
	switch values := values.(type) {
	case *array.String:
		return values.Value(i)
	case *array.Float64:
		return values.Value(i)
	case *array.Int64:
		return values.Value(i)
	}
	return values
}

func readParquet(file *os.File, _ []column, out *bytes.Buffer) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	opened, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return err
	}
	var columns []column
	for _, field := range opened.Schema().Fields() {
		kinds := map[parquet.Kind]string{parquet.ByteArray: "text", parquet.Double: "float", parquet.Int64: "int"}
		columns = append(columns, column{field.Name(), kinds[field.Type().Kind()]})
	}
	writeHead(out, columns)
	reader := parquet.NewReader(opened)
	defer reader.Close()
	rows := make([]parquet.Row, 1000)
	for {
		count, err := reader.ReadRows(rows)
		for _, row := range rows[:count] {
			values := make([]any, len(columns))
			for _, value := range row {
				values[value.Column()] = plain(value)
			}
			if err := writeRow(out, values); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func plain(value parquet.Value) any {
	switch {
	case value.IsNull():
		return nil
	case value.Kind() == parquet.ByteArray:
		return string(value.ByteArray())
	case value.Kind() == parquet.Double:
		return value.Double()
	}
	return value.Int64()
}

func readCSV(file *os.File, columns []column, out *bytes.Buffer) error {
	reader := csv.NewReader(bufio.NewReader(file))
	names, err := reader.Read()
	if err != nil {
		return err
	}
	for i, name := range names {
		columns[i].name = name
	}
	writeHead(out, columns)
	for {
		fields, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		values := make([]any, len(columns))
		for i, field := range fields {
			if values[i], err = parsed(field, columns[i].kind); err != nil {
				return err
			}
		}
		if err := writeRow(out, values); err != nil {
			return err
		}
	}
}

// Go's reader does not tell a missing value from an empty text.
func parsed(field, kind string) (any, error) {
	switch {
	case field == "":
		return nil, nil
	case kind == "float":
		return strconv.ParseFloat(field, 64)
	case kind == "int":
		return strconv.ParseInt(field, 10, 64)
	}
	return field, nil
}

func readJSON(file *os.File, _ []column, out *bytes.Buffer) error {
	var response struct {
		Columns []struct{ Name, Dtype string }
		Rows    [][]any
	}
	decoder := json.NewDecoder(file)
	decoder.UseNumber()
	if err := decoder.Decode(&response); err != nil {
		return err
	}
	kinds := map[string]string{"string": "text", "float64": "float", "int64": "int"}
	var columns []column
	for _, found := range response.Columns {
		columns = append(columns, column{found.Name, kinds[found.Dtype]})
	}
	writeHead(out, columns)
	for _, row := range response.Rows {
		if err := writeNumbers(out, columns, row); err != nil {
			return err
		}
	}
	return nil
}

func readNDJSON(file *os.File, columns []column, out *bytes.Buffer) error {
	writeHead(out, columns)
	decoder := json.NewDecoder(file)
	decoder.UseNumber()
	for {
		var object map[string]any
		if err := decoder.Decode(&object); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var row []any
		for _, column := range columns {
			row = append(row, object[column.name])
		}
		if err := writeNumbers(out, columns, row); err != nil {
			return err
		}
	}
}

func writeNumbers(out *bytes.Buffer, columns []column, row []any) error {
	for i, value := range row {
		number, ok := value.(json.Number)
		if !ok {
			continue
		}
		var err error
		if row[i], err = parsed(number.String(), columns[i].kind); err != nil {
			return err
		}
	}
	return writeRow(out, row)
}
