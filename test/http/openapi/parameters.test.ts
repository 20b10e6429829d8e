import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ENTITIES } from "../../../src/catalog/index.js";
import { parseDate } from "../../../src/dates.js";
import { Problem } from "../../../src/errors.js";
import { openApi } from "../../../src/http/openapi/index.js";
import { parseRequest } from "../../../src/query/request.js";
import { companionsOf, readDescription } from "../../support/openapi.js";

const description = readDescription(openApi());
const { operations } = description;

describe("the description of a parameter", () => {
  test("allows what the parser accepts, and in addition only dates that do not exist", () => {
    const limits = { defaultLimit: null, maxLimit: null };
    const text = fc.oneof(
      fc.constantFrom(
        "null",
        "1",
        "0",
        "5",
        "-1",
        "asc",
        "csv",
        "2024",
        "20240102",
        "2024-01-02",
        "20240230",
        "0099-01-01",
      ),
      fc.constantFrom(
        "600519.SH",
        "000001",
        "600519.",
        "中文",
        "L1",
        "1e3",
        "2024-1-2",
        "1970-01-01T08:00:00.000+08:00",
      ),
      fc.stringMatching(/^(00|19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9]$/),
      fc.stringMatching(/^[0-9A-Za-z]{1,13}(\.[A-Za-z]{0,7})?$/),
      fc.stringMatching(/^-?[1-9][0-9]{0,17}$/),
      fc.string({ minLength: 1, unit: "binary" }).map((given) => given.replaceAll(/[\s,]/g, "_")),
    );
    const cases = ENTITIES.flatMap((entity) =>
      operations
        .find(({ path }) => path === `/api/v1/entities/${entity.name}`)!
        .parameters.filter((parameter) => parameter.in === "query" && parameter.name !== "cursor")
        .map((parameter) => ({ entity, parameter })),
    );
    const property = fc.property(
      fc.constantFrom(...cases),
      fc.array(text, { minLength: 1, maxLength: 3 }),
      (given, texts) => {
        const { entity, parameter } = given;
        const { name, schema } = parameter;
        const numbers = JSON.stringify(description.resolve(schema.items ?? schema)).includes('"integer"');
        const values = texts.map((one) => (numbers && /^-?[0-9]+$/.test(one) ? Number(one) : one));
        const isList = schema.type === "array";
        const described = description.checker(schema)(isList ? values : values[0]);
        const search = new URLSearchParams([[name, isList ? texts.join(",") : texts[0]!], ...companionsOf(name)]);
        const accepted = accepts(() => parseRequest(entity, search, limits));
        if (described && !accepted) {
          const noDay = texts.some((one) => /^\d{4}-?\d\d-?\d\d$/.test(one) && parseDate(one) === undefined);
          expect(noDay, `${name}=${texts.join(",")} is refused`).toBe(true);
        } else expect(accepted, `${name}=${texts.join(",")}`).toBe(described);
      },
    );
    fc.assert(property, { numRuns: 3000 });
  });
});

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
