// Queries in a body in the OpenAPI description: each is made of the operation that takes the same parameters in its URL.
import { FORMATS } from "../../catalog/formats.js";
import type { Operation } from "./answers.js";
import { LIST, type Parameter } from "./parameters.js";
import { onlyPost, problemResponses, type Ref, refTo, schemaOf, type Schema } from "./schemas.js";

/** The path and the operation that takes the parameters of `get` in its body. */
export const queryPath = (path: string, get: Operation): Schema => ({ [`${path}/query`]: { post: query(get) } });

function query(get: Operation): Operation {
  const parameters = get.parameters ?? [];
  const inUrl = parameters.filter((one): one is Parameter => !isRef(one));
  const examples = inUrl.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example] as const]));
  const required = inUrl.filter((one) => one.required).map(({ name }) => name);
  const schema: Schema = {
    type: "object",
    properties: Object.fromEntries(parameters.filter((one) => !isSame(one, IF_NONE_MATCH)).map(propertyOf)),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  return {
    ...get,
    operationId: `${get.operationId.replace("get_", "post_")}_query`,
    summary: `${get.summary} (long query)`,
    description:
      "The same rows as by `GET` without `/query`, for parameters that are too long for a URL: up to 256 KiB of JSON. Text is " +
      "read as in a URL, where commas separate the values of a list; in a JSON list, each item is one value. Numbers and " +
      "booleans may also be text.",
    parameters: [IF_NONE_MATCH],
    requestBody: {
      required: true,
      content: { [FORMATS.json.mediaType]: { schema, example: Object.fromEntries(examples) } },
    },
    responses: { ...get.responses, ...problemResponses(["content_too_large", "unsupported_media_type"]), ...onlyPost },
  };
}

const IF_NONE_MATCH = refTo("parameters", "if_none_match");

const isRef = (parameter: Parameter | Ref): parameter is Ref => "$ref" in parameter;
const isSame = (parameter: Parameter | Ref, ref: Ref): boolean => isRef(parameter) && parameter.$ref === ref.$ref;

/** A parameter as a member of the body, by its name. */
function propertyOf(parameter: Parameter | Ref): readonly [string, Schema] {
  if (isRef(parameter)) return [parameter.$ref.split("/").at(-1)!, { $ref: `${parameter.$ref}/schema` }];
  const { name, schema } = parameter;
  const description = parameter.description.replace(` ${LIST}`, "");
  const items = schema["items"] as Ref | undefined;
  const isText = items?.$ref === schemaOf("FilterText").$ref;
  return [name, { description, ...schema, ...(isText ? { items: schemaOf("ItemText") } : {}) }];
}
