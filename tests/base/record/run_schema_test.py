#!/usr/bin/env python3
"""Holds docs/run.schema.json and docs/formats.md against records that the code writes.

usage: run_schema_test.py WRITE_RANDOM_RUNS SOURCE_FOLDER
"""
import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("SKIPPED: the run record is NOT held against its schema; apt-get install python3-jsonschema")
    sys.exit(77)

RUNS = 100


def resolved(schema, root):
    """The schema behind $ref, and the alternative that is not null."""
    while True:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        elif "anyOf" in schema:
            schema = next(choice for choice in schema["anyOf"] if choice.get("type") != "null")
        else:
            return schema


class FreeKey(str):
    """A key that is data, such as the name of a variable or of a device."""


def is_named(path):
    """Whether the last step of a path is a key that the schema names."""
    return bool(path) and isinstance(path[-1], str) and not isinstance(path[-1], FreeKey)


def walk(value, schema, root, path=()):
    """Every value of a record with its schema, from the outside in."""
    schema = resolved(schema, root)
    yield path, value, schema
    if isinstance(value, dict):
        for key, member in value.items():
            named = schema.get("properties", {})
            inner = named.get(key, schema.get("additionalProperties"))
            if isinstance(inner, dict):
                yield from walk(member, inner, root, path + (key if key in named else FreeKey(key),))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(item, schema["items"], root, path + (index,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


class RunSchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        docs = Path(sys.argv[2]) / "docs"
        cls.formats = (docs / "formats.md").read_text(encoding="utf-8")
        cls.schema = json.loads((docs / "run.schema.json").read_text(encoding="utf-8"))
        cls.validator = jsonschema.Draft202012Validator(cls.schema)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.argv[1], folder, str(RUNS)], check=True)
            cls.records = [
                json.loads(path.read_text(encoding="utf-8"), parse_constant=cls.not_json) for path in Path(folder).iterdir()
            ]

    @staticmethod
    def not_json(constant):
        raise ValueError(f"{constant} is not JSON")

    def largest(self):
        return copy.deepcopy(max(self.records, key=lambda record: len(json.dumps(record))))

    def test_the_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_every_record_is_valid(self):
        self.assertEqual(len(self.records), RUNS)
        for record in self.records:
            self.validator.validate(record)

    def test_no_key_is_missing_from_the_schema(self):
        for record in self.records:
            for path, value, schema in walk(record, self.schema, self.schema):
                if isinstance(value, dict) and "properties" in schema:
                    keys, required = list(value), schema["required"]
                    # Columns of a step only it has.
                    self.assertEqual(keys, [key for key in schema["properties"] if key in value], path)
                    self.assertEqual([key for key in keys if key in required], required, path)

    def test_a_missing_key_is_seen(self):
        record = self.largest()
        seen = 0
        for path, value, _ in list(walk(record, self.schema, self.schema)):
            if is_named(path):
                parent = at(record, path[:-1])
                del parent[path[-1]]
                self.assertFalse(self.validator.is_valid(record), path)
                parent[path[-1]] = value
                seen += 1
        self.assertGreater(seen, 50)

    def test_another_kind_is_seen(self):
        record = self.largest()
        for path, value, _ in list(walk(record, self.schema, self.schema)):
            if path:
                parent = at(record, path[:-1])
                parent[path[-1]] = {"another": "kind"} if not isinstance(value, dict) else 1.5
                self.assertFalse(self.validator.is_valid(record), path)
                parent[path[-1]] = value

    def test_every_key_is_described(self):
        for record in self.records:
            for path, _, _ in walk(record, self.schema, self.schema):
                if is_named(path):
                    self.assertIn(f"`{path[-1]}`", self.formats)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
