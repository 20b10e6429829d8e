// The route of panels in the OpenAPI description.
import { entityNamed } from "../../catalog/index.js";
import { FIRST_ENTITIES, LAYOUTS, PANEL_ENTITIES, PANEL_PARAMETERS } from "../../query/panel.js";
import { type Operation, rowsAnswers } from "./answers.js";
import { bound, exampleCode, list, type Parameter, sharedParameter, single } from "./parameters.js";
import { queryPath } from "./query-path.js";
import { problemResponses, type Ref, ROWS, schemaOf } from "./schemas.js";

const names = (entities: readonly string[]): string => entities.map((name) => `\`${name}\``).join(", ");

const own: Readonly<Record<string, Parameter>> = {
  entities: {
    ...list(
      "entities",
      "Columns of entities, each as `entity:column`. The rows of the panel are those of the first entity, which has one for " +
        `each stock and day: ${names(FIRST_ENTITIES)}.`,
      { type: "string", pattern: `^(?:${PANEL_ENTITIES.join("|")}):[a-z0-9_]+$` },
      ["daily:close", "daily_basic:pe", "income:total_revenue"],
    ),
    required: true,
  },
  start_date: bound("start_date", "trading day", entityNamed("daily")),
  end_date: bound("end_date", "trading day", entityNamed("daily")),
  codes: list("codes", "Codes of stocks; by default all.", schemaOf("StockCode"), [exampleCode(entityNamed("daily")!)]),
  layout: single(
    "layout",
    "`wide`: a column for each field, called `entity.column`. `long`: a row for each field, with the columns `field` and " +
      "`value`; for numbers only.",
    { type: "string", enum: LAYOUTS, default: "wide" },
  ),
};

const parameters = PANEL_PARAMETERS.map((name): Parameter | Ref => own[name] ?? sharedParameter(name as "limit"));

const panel: Operation = {
  operationId: "get_panel",
  summary: "A panel of several entities",
  description:
    "A row for each stock and trading day, with columns of several entities as they were known at the close of that day. Rows " +
    "of daily entities are those of the day; of reports, it is the newest revision of the newest period that had been " +
    "announced by then, and of statements the consolidated one (`report_type` 1).\n\nOrder: `trade_date`, `ts_code`.",
  tags: ["service"],
  parameters: [...parameters, sharedParameter("if_none_match")],
  responses: { ...rowsAnswers("Envelope"), ...problemResponses([...ROWS, "unknown_entity"]) },
};

const PATH = "/api/v1/panel";

export const panelPaths = { [PATH]: { get: panel }, ...queryPath(PATH, panel) };
