// The paths of the entities: rows and gaps, each entity under its own path with its own parameters.
import { ENTITIES } from "../../catalog/index.js";
import type { Entity } from "../../catalog/types.js";
import type { ProblemCode } from "../../errors.js";
import { jsonAnswers, rowsAnswers, type Operation } from "./answers.js";
import { exampleCode } from "./examples.js";
import { bound, entityParameters, sharedParameter, single } from "./parameters.js";
import { problemResponses, READING, TOKEN } from "./problems.js";
import { refTo, schemaOf, type Schema } from "./schemas.js";

const ROWS: readonly ProblemCode[] = [
  ...TOKEN,
  ...READING,
  "forbidden",
  "invalid_cursor",
  "not_acceptable",
  "upgrade_required",
];

export function entityPaths(): Schema {
  return Object.fromEntries(
    ENTITIES.flatMap((entity) => [
      [`/api/v1/entities/${entity.name}`, { get: rows(entity) }],
      [`/api/v1/entities/${entity.name}/gaps`, { get: gaps(entity) }],
    ]),
  );
}

function rows(entity: Entity): Operation {
  return {
    operationId: `get_${entity.name}`,
    summary: entity.title,
    description: `${entity.about}\n\nOrder: ${entity.order.map((name) => `\`${name}\``).join(", ")}; missing values last.`,
    tags: [entity.store],
    parameters: [...entityParameters(entity), sharedParameter("if_none_match")],
    responses: {
      ...rowsAnswers(`Envelope_${entity.name}`),
      ...problemResponses(ROWS),
    },
  };
}

function gaps(entity: Entity): Operation {
  return {
    operationId: `get_${entity.name}_gaps`,
    summary: `Gaps of: ${entity.title}`,
    description:
      "Gaps that overlap the asked interval, each whole: computed ones, and those that the operator recorded.",
    tags: [entity.store],
    parameters: [
      bound("start_date", "day of the interval"),
      bound("end_date", "day of the interval"),
      single(
        "ts_code",
        "Gaps of this code, and those that are not tied to one.",
        schemaOf(entity.bareCodes ? "CodeOrBare" : "Code"),
        exampleCode(entity),
      ),
      sharedParameter("data_version"),
      sharedParameter("if_none_match"),
    ],
    responses: {
      ...jsonAnswers("The gaps, by first day.", refTo("schemas", "Gaps")),
      ...problemResponses([...TOKEN, ...READING, "forbidden"]),
    },
  };
}
