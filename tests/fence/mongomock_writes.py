"""Writes to one document of a mongomock collection, guarded as the caller says.

Reads a line of JSON for each write: the filter and the fence's fields as Extended JSON, the value,
and whether to upsert. Prints a line for each: what became of it, and the value that is there. A line
{"document": ...} puts that document there instead.
"""
import json
import sys

import mongomock
import pymongo.errors
from bson import json_util

collection = mongomock.MongoClient().database.collection


def write(request):
    guard = json_util.loads(request["filter"])
    change = {"$set": {"value": request["value"], **json_util.loads(request["fields"])}}
    try:
        result = collection.update_one(guard, change, upsert=request["upsert"])
    except pymongo.errors.DuplicateKeyError:
        return "duplicate key"
    if result.upserted_id is not None:
        return "made"
    return "matched" if result.matched_count == 1 else "not matched"


for line in sys.stdin:
    request = json.loads(line)
    if "document" in request:
        collection.replace_one({"_id": request["document"]["_id"]}, request["document"], upsert=True)
        continue
    outcome = write(request)
    documents = list(collection.find())
    assert len(documents) <= 1, documents
    print(outcome, documents[0].get("value") if documents else None, sep=": ")
