// The part of Spark Connect that the client uses: messages with the field numbers of Spark's own files, and the methods.
import { Metadata, type Client, type ClientReadableStream } from "@grpc/grpc-js";
import protobuf from "protobufjs";

/** What is left out here is skipped when a message is read, and never sent. */
const MESSAGES = `
  syntax = "proto3";

  message UserContext { string user_id = 1; string user_name = 2; }

  message Literal { oneof literal_type { bool boolean = 3; int64 long = 7; double double = 11; string string = 13; int32 date = 16; } }
  message Expression { Literal literal = 1; }

  message Sql { string query = 1; map<string, Expression> named_arguments = 4; }
  message DataSource { string format = 1; string schema = 2; map<string, string> options = 3; repeated string paths = 4; }
  message Read { DataSource data_source = 2; }
  message RelationCommon { int64 plan_id = 2; }
  message Limit { Relation input = 1; int32 limit = 2; }
  message Relation { RelationCommon common = 1; oneof rel_type { Read read = 2; Limit limit = 8; Sql sql = 10; } }

  message CreateView { Relation input = 1; string name = 2; bool is_global = 3; bool replace = 4; }
  message Command { CreateView create_dataframe_view = 3; }
  message Plan { oneof op_type { Relation root = 1; Command command = 2; } }

  message ExecutePlanRequest {
    string session_id = 1;
    UserContext user_context = 2;
    Plan plan = 3;
    string client_type = 4;
    string operation_id = 6;
  }
  message ArrowBatch { int64 row_count = 1; bytes data = 2; optional int64 start_offset = 3; }
  message ExecutePlanResponse { ArrowBatch arrow_batch = 2; }

  message KeyValue { string key = 1; string value = 2; }
  message Settings { repeated KeyValue pairs = 1; }
  message Operation { Settings set = 1; }
  message ConfigRequest { string session_id = 1; UserContext user_context = 2; Operation operation = 3; string client_type = 4; }

  enum InterruptType { INTERRUPT_TYPE_UNSPECIFIED = 0; INTERRUPT_TYPE_ALL = 1; }
  message InterruptRequest { string session_id = 1; UserContext user_context = 2; string client_type = 3; InterruptType interrupt_type = 4; }
  message ReleaseSessionRequest { string session_id = 1; UserContext user_context = 2; string client_type = 3; }
  message Empty {}
`;

const { root } = protobuf.parse(MESSAGES);

export type Literal =
  | { readonly boolean: boolean }
  | { readonly long: number | string }
  | { readonly double: number }
  | { readonly string: string }
  | { readonly date: number };

/** Some rows of a result, as a complete stream of Arrow with its own schema. */
export interface ArrowBatch {
  /** Absent if there are none. */
  readonly rowCount?: number;
  readonly data: Uint8Array;
  /** How many rows of the result came before. Absent from servers that do not count. */
  readonly startOffset?: number;
}

export interface ExecutePlanResponse {
  readonly arrowBatch?: ArrowBatch;
}

type Plain = Readonly<Record<string, unknown>>;

const writerOf = (type: protobuf.Type) => (message: Plain) =>
  Buffer.from(type.encode(type.fromObject(message)).finish());
const readerOf = (type: protobuf.Type) => (bytes: Buffer) => type.toObject(type.decode(bytes), { longs: Number });

const methodOf = (name: string, answer: string) =>
  [
    `/spark.connect.SparkConnectService/${name}`,
    writerOf(root.lookupType(`${name}Request`)),
    readerOf(root.lookupType(answer)),
  ] as const;

const EXECUTE = methodOf("ExecutePlan", "ExecutePlanResponse");
/** Methods whose answers say nothing that is needed. */
const METHODS = {
  config: methodOf("Config", "Empty"),
  interrupt: methodOf("Interrupt", "Empty"),
  releaseSession: methodOf("ReleaseSession", "Empty"),
} as const;

export type Method = keyof typeof METHODS;

/** When a call ends at the latest: at a time in milliseconds since 1970, or when the signal is aborted. */
export interface CallLimits {
  readonly deadline: number;
  readonly signal?: AbortSignal;
}

/** The responses to a plan. The stream ends without an error only if the server has said that it sent everything. */
export function execute(client: Client, request: Plain, { deadline, signal }: CallLimits) {
  const responses: ClientReadableStream<ExecutePlanResponse> = client.makeServerStreamRequest(
    ...EXECUTE,
    request,
    new Metadata(),
    { deadline },
  );
  const stop = () => responses.cancel();
  signal?.addEventListener("abort", stop, { once: true });
  responses.once("status", () => signal?.removeEventListener("abort", stop));
  return responses;
}

/** Resolves when the server has answered. */
export const call = (client: Client, method: Method, request: Plain, { deadline, signal }: CallLimits) =>
  new Promise<void>((resolve, reject) => {
    const unary = client.makeUnaryRequest(...METHODS[method], request, new Metadata(), { deadline }, (error) => {
      signal?.removeEventListener("abort", stop);
      if (error) reject(error);
      else resolve();
    });
    const stop = () => unary.cancel();
    signal?.addEventListener("abort", stop, { once: true });
  });
