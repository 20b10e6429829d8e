// Reads responses with arrow-java, parquet-java, commons-csv and Jackson. See test/readers/README.md.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;

final class Readers {
  private record Column(String name, String kind) {}

  /** A reader gets the columns that a format without types lacks. */
  private interface FormatReader {
    String read(Path input, List<Column> columns) throws Exception;
  }

  private static final Map<String, FormatReader> READERS =
      Map.of(
          "arrow", (input, columns) -> arrow(input),
          "parquet", (input, columns) -> parquet(input),
          "csv", Readers::csv,
          "json", (input, columns) -> json(input),
          "ndjson", Readers::ndjson);

  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] task = line.split("\t");
      List<Column> columns = new ArrayList<>();
      for (String field : Arrays.asList(task).subList(3, task.length)) {
        columns.add(new Column(field.split(":")[0], field.split(":")[1]));
      }
      String dump;
      try {
        dump = READERS.get(task[0]).read(Path.of(task[1]), columns);
      } catch (Exception | LinkageError error) {
        dump = "refused: " + error;
      }
      Files.writeString(Path.of(task[2]), dump);
    }
  }

  private static StringBuilder head(List<Column> columns) {
    List<String> fields = columns.stream().map(column -> column.name + ":" + column.kind).toList();
    return new StringBuilder(String.join("\t", fields)).append('\n');
  }

  private static void row(StringBuilder out, Object[] values) {
    for (int i = 0; i < values.length; i++) {
      if (i > 0) out.append('\t');
      Object value = values[i];
      if (value == null) out.append('-');
      else if (value instanceof Double number) out.append('f').append(HexFormat.of().toHexDigits(Double.doubleToRawLongBits(number)));
      else if (value instanceof Long number) out.append('i').append(number);
      else out.append('t').append(HexFormat.of().formatHex(value.toString().getBytes(StandardCharsets.UTF_8)));
    }
    out.append('\n');
  }

  private static String arrow(Path input) throws Exception {
    try (InputStream file = Files.newInputStream(input);
        RootAllocator allocator = new RootAllocator();
        ArrowStreamReader reader = new ArrowStreamReader(file, allocator)) {
      var root = reader.getVectorSchemaRoot();
      List<Column> columns = new ArrayList<>();
      for (var field : root.getSchema().getFields()) columns.add(new Column(field.getName(), kind(field.getType())));
      StringBuilder out = head(columns);
      while (reader.loadNextBatch()) {
        List<FieldVector> vectors = root.getFieldVectors();
        for (int i = 0; i < root.getRowCount(); i++) {
          int at = i;
          row(out, vectors.stream().map(vector -> vector.getObject(at)).toArray());
        }
      }
      return out.toString();
    }
  }

  private static String kind(ArrowType type) {
    if (type instanceof ArrowType.Utf8) return "text";
    return type instanceof ArrowType.FloatingPoint ? "float" : "int";
  }

  private static String parquet(Path input) throws Exception {
    ParquetReadOptions options = ParquetReadOptions.builder(new PlainParquetConfiguration()).build();
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(input), options)) {
      MessageType schema = reader.getFileMetaData().getSchema();
      List<Column> columns = new ArrayList<>();
      for (Type field : schema.getFields()) {
        columns.add(new Column(field.getName(), kind(field.asPrimitiveType().getPrimitiveTypeName())));
      }
      StringBuilder out = head(columns);
      for (PageReadStore pages; (pages = reader.readNextRowGroup()) != null; ) {
        RecordReader<Group> rows =
            new ColumnIOFactory().getColumnIO(schema).getRecordReader(pages, new GroupRecordConverter(schema));
        for (long i = 0; i < pages.getRowCount(); i++) row(out, valuesOf(rows.read(), columns));
      }
      return out.toString();
    }
  }

  private static String kind(PrimitiveTypeName type) {
    return switch (type) {
      case BINARY -> "text";
      case DOUBLE -> "float";
      case INT64 -> "int";
      default -> type.toString();
    };
  }

  private static Object[] valuesOf(Group group, List<Column> columns) {
    Object[] values = new Object[columns.size()];
    for (int i = 0; i < values.length; i++) {
      if (group.getFieldRepetitionCount(i) == 0) continue;
      values[i] =
          switch (columns.get(i).kind) {
            case "text" -> group.getString(i, 0);
            case "float" -> group.getDouble(i, 0);
            default -> group.getLong(i, 0);
          };
    }
    return values;
  }

  private static String csv(Path input, List<Column> columns) throws Exception {
    CSVFormat format = CSVFormat.RFC4180.builder().setHeader().setSkipHeaderRecord(true).get();
    try (Reader text = Files.newBufferedReader(input);
        var parser = format.parse(text)) {
      List<String> names = parser.getHeaderNames();
      List<Column> found = new ArrayList<>();
      for (int i = 0; i < names.size(); i++) found.add(new Column(names.get(i), columns.get(i).kind));
      StringBuilder out = head(found);
      for (CSVRecord record : parser) {
        Object[] values = new Object[record.size()];
        for (int i = 0; i < values.length; i++) values[i] = parsed(record.get(i), columns.get(i).kind);
        row(out, values);
      }
      return out.toString();
    }
  }

  /** In this format, commons-csv does not tell a missing value from an empty text. */
  private static Object parsed(String field, String kind) {
    if (field.isEmpty()) return null;
    return switch (kind) {
      case "float" -> Double.valueOf(field);
      case "int" -> Long.valueOf(field);
      default -> field;
    };
  }

  private static String json(Path input) throws Exception {
    JsonNode response = JSON.readTree(input.toFile());
    Map<String, String> kinds = Map.of("string", "text", "float64", "float", "int64", "int");
    List<Column> columns = new ArrayList<>();
    for (JsonNode column : response.get("columns")) {
      columns.add(new Column(column.get("name").asText(), kinds.get(column.get("dtype").asText())));
    }
    StringBuilder out = head(columns);
    for (JsonNode values : response.get("rows")) row(out, values(values, columns));
    return out.toString();
  }

  private static String ndjson(Path input, List<Column> columns) throws Exception {
    StringBuilder out = head(columns);
    try (var objects = JSON.readerFor(JsonNode.class).<JsonNode>readValues(input.toFile())) {
      while (objects.hasNext()) row(out, values(objects.next(), columns));
    }
    return out.toString();
  }

  private static Object[] values(JsonNode node, List<Column> columns) {
    Object[] values = new Object[columns.size()];
    for (int i = 0; i < values.length; i++) {
      JsonNode value = node.isArray() ? node.get(i) : node.get(columns.get(i).name);
      if (value.isNull()) continue;
      values[i] =
          switch (columns.get(i).kind) {
            case "text" -> value.textValue();
            case "float" -> value.doubleValue();
            default -> value.longValue();
          };
    }
    return values;
  }
}
