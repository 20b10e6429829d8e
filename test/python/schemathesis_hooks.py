"""What OpenAPI cannot say: the only reasons for which a request that fits the description may be refused."""

import schemathesis

# One parameter against another, or a value against the data.
CODES = {"contradictory_parameters", "invalid_cursor", "not_a_trading_day", "outside_calendar"}
# What a statement may be, and whether a server has a cluster.
CODES |= {"invalid_sql", "sql_not_allowed"}
SQL = {"q", "sql", "params", "engine"}


@schemathesis.check
def described_requests_are_accepted(ctx, response, case):
    if not case.meta.generation.mode.is_positive or response.status_code not in (400, 422):
        return
    problem = response.json()
    # A pattern knows months and days, but not that February has no 30th.
    no_day = problem["detail"].endswith("is not a calendar day")
    # A pattern knows the entities of a panel, but not the columns of each, nor which entity may come first.
    no_field = problem.get("parameter") == "entities"
    of_sql = problem.get("parameter") in SQL
    if problem["code"] not in CODES and not (no_day or no_field or of_sql):
        raise AssertionError(f"refused though it fits the description: {problem}")
