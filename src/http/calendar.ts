// Which days there are: GET /api/v1/calendar and /api/v1/calendar/shift. The calendar is the content of trade_cal, so the
// token must cover it.
import type { RequestHandler } from "express";
import {
  coveredDays,
  parseCalendarRequest,
  parseShiftRequest,
  selectDays,
  shiftTradingDay,
} from "../query/calendar.js";
import { checkEntity } from "./auth.js";
import type { Context } from "./context.js";
import { setCovered } from "./headers.js";
import { findSnapshot, searchOf } from "./lookup.js";
import { requestSignal, sendJson } from "./respond.js";

export function calendarHandler(context: Context): RequestHandler {
  return async (req, res) => {
    checkEntity(res, "trade_cal");
    const request = parseCalendarRequest(searchOf(req));
    const snapshot = await findSnapshot(context, res, request.dataVersion);
    const calendar = await context.calendars.of(snapshot, requestSignal(res, context.config.deadline));
    const days = selectDays(calendar, request);
    const { exchange } = request;
    const covered = coveredDays(calendar, request);
    setCovered(res, covered);
    const body = { exchange, days, data_version: snapshot.version.data_version };
    await sendJson(req, res, body, { exchange, days, covered });
  };
}

export function shiftHandler(context: Context): RequestHandler {
  return async (req, res) => {
    checkEntity(res, "trade_cal");
    const request = parseShiftRequest(searchOf(req));
    const snapshot = await findSnapshot(context, res, request.dataVersion);
    const calendar = await context.calendars.of(snapshot, requestSignal(res, context.config.deadline));
    const { date, n, exchange } = request;
    const answer = { date, n, exchange, result: shiftTradingDay(calendar, request) };
    await sendJson(req, res, answer, answer);
  };
}
