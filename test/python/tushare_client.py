"""Asks a server through the package tushare as its users do. Takes a URL, and a list of calls as JSON on stdin."""

import json
import sys
import warnings

warnings.simplefilter("ignore")
import tushare as ts  # noqa: E402


def ask(pro, call):
    name, arguments = call["name"], call["arguments"]
    try:
        if name == "pro_bar":
            frame = ts.pro_bar(api=pro, retry_count=1, **arguments)
        elif name == "query":
            frame = pro.query(arguments.pop("api_name"), **arguments)
        else:
            frame = getattr(pro, name)(**arguments)
    except Exception as error:
        return {"error": str(error)}
    return json.loads(frame.to_json(orient="split", double_precision=15))


def main():
    url, token = sys.argv[1:]
    pro = ts.pro_api(token)
    pro._DataApi__http_url = url
    print(json.dumps([ask(pro, call) for call in json.load(sys.stdin)]))


main()
