// Reading a description of the API: its operations, its references, and a check of values against its schemas.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** Parsed JSON of the document; its shape is checked by the tests. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Json;
  readonly example?: Json;
}

export interface DescribedOperation {
  readonly path: string;
  readonly parameters: readonly DescribedParameter[];
  readonly responses: Readonly<Record<string, Json>>;
  readonly security: Json;
}

export interface Description {
  /** What is read with GET. */
  readonly operations: readonly DescribedOperation[];
  readonly paths: readonly string[];
  resolve(value: Json): Json;
  /** A checker of a schema of the document. */
  checker(schema: Json): ValidateFunction;
}

export function readDescription(document: Json): Description {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, formats: { uri: true } });
  ajv.addKeyword("components");
  const checkers = new Map<Json, ValidateFunction>();
  const resolve = (value: Json): Json =>
    value && "$ref" in value && Object.keys(value).length === 1
      ? resolve(
          value.$ref
            .slice(2)
            .split("/")
            .reduce((at: Json, key: string) => at[key], document),
        )
      : value;
  return {
    resolve,
    paths: Object.keys(document.paths),
    operations: Object.entries<Json>(document.paths)
      .flatMap(([path, { get }]) => (get ? [[path, get]] : []))
      .map(([path, get]) => ({
        path,
        parameters: (get.parameters ?? []).map(resolve),
        responses: Object.fromEntries(Object.entries(get.responses).map(([status, value]) => [status, resolve(value)])),
        security: get.security ?? document.security,
      })),
    checker(schema) {
      let checker = checkers.get(schema);
      if (!checker) {
        checker = ajv.compile({ ...schema, components: document.components });
        checkers.set(schema, checker);
      }
      return checker;
    },
  };
}

/** The query string of some parameters' examples; items of a list are parted by commas. */
export function exampleQuery(parameters: readonly DescribedParameter[]): string {
  const given = parameters.filter((parameter) => parameter.in === "query" && parameter.example !== undefined);
  const search = new URLSearchParams(given.map(({ name, example }): [string, string] => [name, String(example)]));
  return given.length === 0 ? "" : `?${search.toString()}`;
}

const SCHEDULE = { as_of_days: "month_end", as_of_start: "01000101", as_of_end: "99991231" };

/** The parameters that one of this name cannot do without. */
export const companionsOf = (name: string): [string, string][] =>
  name === "adjust_volume"
    ? [["adjust", "forward"]]
    : name in SCHEDULE
      ? Object.entries(SCHEDULE).filter(([other]) => other !== name)
      : [];
