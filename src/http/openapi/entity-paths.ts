// The routes of entities in the OpenAPI description.
import { columnNamed, ENTITIES } from "../../catalog/index.js";
import type { Entity } from "../../catalog/types.js";
import { changesParameters } from "../../query/changes.js";
import { dayAnswers, type Operation, jsonAnswers, rowsAnswers } from "./answers.js";
import {
  bound,
  codeSchema,
  entityParameters,
  exampleCode,
  parametersNamed,
  sharedParameter,
  single,
} from "./parameters.js";
import { queryPath } from "./query-path.js";
import { READING, ROWS, type Schema, TOKEN, problemResponses, refTo, schemaOf } from "./schemas.js";

/** The routes of each entity. */
export function entityPaths(): Schema {
  const all = ENTITIES.map((entity): Schema => {
    const path = `/api/v1/entities/${entity.name}`;
    return {
      [path]: { get: rows(entity) },
      ...queryPath(path, rows(entity)),
      [`${path}/gaps`]: { get: gaps(entity) },
      [`${path}/changes`]: { get: changes(entity) },
      ...queryPath(`${path}/changes`, changes(entity)),
      [`${path}/versions`]: { get: versions(entity) },
      [`${path}/checks`]: { get: checks(entity) },
      [`${path}/statistics`]: { get: statistics(entity) },
    };
  });
  return Object.assign({}, ...all) as Schema;
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
    description: "Gaps that overlap the requested interval, uncut: computed ones and those recorded by the operator.",
    tags: [entity.store],
    parameters: [
      bound("start_date", "day of the interval"),
      bound("end_date", "day of the interval"),
      single(
        "ts_code",
        "Gaps of this code, and those that do not concern a single code.",
        schemaOf(codeSchema(entity, columnNamed(entity, entity.code)!)),
        exampleCode(entity),
      ),
      single("excused", "`true`: the gaps that the operator excused, with their reasons, instead of the others.", {
        type: "boolean",
        default: false,
      }),
      sharedParameter("data_version"),
      sharedParameter("if_none_match"),
    ],
    responses: {
      ...dayAnswers("The gaps, by first day.", refTo("schemas", "Gaps"), "gaps"),
      ...problemResponses([...TOKEN, ...READING, "forbidden"]),
    },
  };
}

function changes(entity: Entity): Operation {
  const others = changesParameters(entity).filter((name) => name !== "from" && name !== "to");
  return {
    operationId: `get_${entity.name}_changes`,
    summary: `Changes between two versions of: ${entity.title}`,
    description:
      "A row for each changed column, with the value before and after. An added or removed row is one row without " +
      "`column`: `after` or `before` is the whole row as a JSON object. Values are spelled as in JSON." +
      (entity.identityIs === "group"
        ? " Several rows may have the same identity, so rows are only added or removed, never changed."
        : ""),
    tags: [entity.store],
    parameters: [
      { ...single("from", "The version that is compared: a `data_version`.", schemaOf("DataVersion")), required: true },
      single("to", "The version with which it is compared; by default the current one.", schemaOf("DataVersion")),
      ...parametersNamed(entity, others),
      sharedParameter("if_none_match"),
    ],
    responses: { ...rowsAnswers("Envelope"), ...problemResponses(ROWS) },
  };
}

function versions(entity: Entity): Operation {
  return {
    operationId: `get_${entity.name}_versions`,
    summary: `Versions that changed: ${entity.title}`,
    description:
      "The newest versions that changed rows of the entity, newest first, each with what it added, removed and changed. The " +
      "oldest kept version is not listed: there is nothing to compare it with.",
    tags: [entity.store],
    parameters: [
      single("limit", "Number of versions.", { type: "integer", minimum: 1, maximum: 50, default: 10 }),
      sharedParameter("data_version"),
      sharedParameter("if_none_match"),
    ],
    responses: {
      ...jsonAnswers("The versions.", refTo("schemas", "EntityVersions")),
      ...problemResponses([...TOKEN, ...READING, "forbidden"]),
    },
  };
}

function checks(entity: Entity): Operation {
  return {
    operationId: `get_${entity.name}_checks`,
    summary: `Checks of: ${entity.title}`,
    description: "The checks of the entity, each with the number of violations in the version and a few examples.",
    tags: [entity.store],
    parameters: [sharedParameter("data_version"), sharedParameter("if_none_match")],
    responses: {
      ...jsonAnswers("The checks.", refTo("schemas", "Checks")),
      ...problemResponses([...TOKEN, ...READING, "forbidden"]),
    },
  };
}

function statistics(entity: Entity): Operation {
  return {
    operationId: `get_${entity.name}_statistics`,
    summary: `Statistics of: ${entity.title}`,
    description:
      "For each column the missing and distinct values, the least and the greatest, and the last day with a value, over " +
      "all rows of the version. Every number is exact.",
    tags: [entity.store],
    parameters: [
      ...parametersNamed(entity, ["fields"]),
      sharedParameter("data_version"),
      sharedParameter("if_none_match"),
    ],
    responses: {
      ...jsonAnswers("The statistics.", refTo("schemas", "Statistics")),
      ...problemResponses([...TOKEN, ...READING, "forbidden"]),
    },
  };
}
