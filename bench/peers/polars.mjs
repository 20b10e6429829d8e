// polars behind HTTP: the Parquet files of `glob` in `format`, held in memory.
import pl from "nodejs-polars";
import { listen } from "./listen.mjs";

const WRITE = {
  ndjson: (frame) => frame.writeJSON({ format: "lines" }),
  csv: (frame) => frame.writeCSV(),
  arrow: (frame) => frame.writeIPC(),
  parquet: (frame) => frame.writeParquet(),
};

listen(async ({ glob, format }, res) => {
  res.end(WRITE[format](await pl.scanParquet(glob).collect()));
});
