"""The Python SDK against the sandbox: python sandbox_interop.py READY_FILE PROGRAM

Expects `reprise sandbox start --nodes 4 --tls --bucket travel --collection inventory.airline
--server-group east,west --ready-file READY_FILE` to be running with the default user, and the
document "from-reprise" in the bucket. Leaves "from-python" there. PROGRAM is `reprise`, which sets
faults and changes the topology. Prints one line for each check and exits with 1 if any failed.
"""

import json
import os
import subprocess
import sys
import time
from datetime import timedelta

from couchbase import subdocument
from couchbase.auth import PasswordAuthenticator
from couchbase.cluster import Cluster
from couchbase.diagnostics import PingState, ServiceType
from couchbase.durability import DurabilityLevel, ServerDurability
from couchbase.exceptions import (AuthenticationException, CasMismatchException,
                                  CollectionNotFoundException, CouchbaseException,
                                  DocumentExistsException, DocumentLockedException,
                                  DocumentNotFoundException, DocumentNotLockedException,
                                  DocumentUnretrievableException, ParsingFailedException,
                                  PathNotFoundException, QueryIndexAlreadyExistsException,
                                  QueryIndexNotFoundException, TimeoutException,
                                  TransactionFailed)
from couchbase.kv_range_scan import PrefixScan, RangeScan, SamplingScan, ScanTerm
from couchbase.management.options import WatchQueryIndexOptions
from couchbase.mutation_state import MutationState
from couchbase.options import (AnalyticsOptions, ClusterOptions, ClusterTimeoutOptions,
                               DecrementOptions, DeltaValue, GetOptions, IncrementOptions, MutateInOptions,
                               PingOptions, QueryOptions, ReplaceOptions, ScanOptions, SignedInt64,
                               TransactionConfig, UpsertOptions, WaitUntilReadyOptions)
from couchbase.transactions import TransactionKeyspace
from couchbase.transcoder import RawBinaryTranscoder

import load

READY_TIMEOUT = timedelta(seconds=20)


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, body, *arguments):
        try:
            detail = body(*arguments)
        except Exception as error:  # whatever an SDK may raise is a result
            self.failed += 1
            said = f"{type(error).__name__}: {error}".replace("\n", " ")
            print(f"check FAILED {name}: {said[:600]}", flush=True)
        else:
            self.passed += 1
            print(f"check ok {name}" + (f" ({detail})" if detail else ""), flush=True)


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"expected: {wanted!r}, got: {got!r}")


def refused(wanted, call, *arguments, **options):
    """Runs a call that must fail, and returns its failure."""
    try:
        result = call(*arguments, **options)
    except wanted as error:
        return error
    raise AssertionError(f"expected: {wanted.__name__}, got: {result!r}")


def store_and_read(collection, key):
    content = {"name": "first", "at": [1, 2, 3]}
    stored = collection.upsert(key, content)
    assert stored.mutation_token() is not None
    got = collection.get(key)
    equal((got.content_as[dict], got.cas), (content, stored.cas))


def check_insert(collection, key):
    refused(DocumentExistsException, collection.insert, key, {})


def check_cas(collection, key):
    cas = collection.get(key).cas
    collection.replace(key, {"name": "second"}, ReplaceOptions(cas=cas))
    refused(CasMismatchException, collection.replace, key, {"name": "third"},
            ReplaceOptions(cas=cas))
    equal(collection.get(key).content_as[dict], {"name": "second"})


def check_expiry(collection, key):
    begin = time.time()
    collection.touch(key, timedelta(seconds=100))
    collection.get_and_touch(key, timedelta(seconds=200))
    expiry = collection.get(key, GetOptions(with_expiry=True)).expiryTime
    assert expiry.timestamp() > begin + 100


def check_missing(collection, key):
    collection.remove(key)
    refused(DocumentNotFoundException, collection.get, key)
    refused(DocumentNotFoundException, collection.remove, key)
    refused(DocumentNotFoundException, collection.replace, key, {})
    equal(collection.exists(key).exists, False)


def check_documents(report, label, collection):
    key = "python-document"
    report.check(label + "upsert and get", store_and_read, collection, key)
    report.check(label + "insert refuses an existing document", check_insert, collection, key)
    report.check(label + "replace with the right cas, refuse the wrong one", check_cas, collection,
                 key)
    report.check(label + "touch, get and touch, expiry", check_expiry, collection, key)
    report.check(label + "projection", lambda: equal(
        collection.get(key, GetOptions(project=["name"])).content_as[dict], {"name": "second"}))
    report.check(label + "remove, then it is missing", check_missing, collection, key)


def check_binary(collection):
    key = "python-counter"
    binary = collection.binary()
    equal(binary.increment(key, IncrementOptions(initial=SignedInt64(40))).content, 40)
    equal(binary.increment(key, IncrementOptions(delta=DeltaValue(5))).content, 45)
    equal(binary.decrement(key, DecrementOptions(delta=DeltaValue(3))).content, 42)
    collection.remove(key)
    raw = RawBinaryTranscoder()
    key = "python-text"
    collection.upsert(key, b"middle", UpsertOptions(transcoder=raw))
    binary.append(key, b" end")
    binary.prepend(key, b"start ")
    equal(collection.get(key, GetOptions(transcoder=raw)).value, b"start middle end")
    for content in (bytes(1_000_000), os.urandom(1_000_000)):
        collection.upsert(key, content, UpsertOptions(transcoder=raw))
        equal(collection.get(key, GetOptions(transcoder=raw)).value, content)
    collection.remove(key)


def check_locks(collection):
    key = "python-lock"
    collection.upsert(key, {"locked": False})
    cas = collection.get_and_lock(key, timedelta(seconds=15)).cas
    refused((TimeoutException, DocumentLockedException), collection.upsert, key, {},
            UpsertOptions(timeout=timedelta(milliseconds=400)))
    refused(CasMismatchException, collection.unlock, key, cas + 1)
    collection.unlock(key, cas)
    refused(DocumentNotLockedException, collection.unlock, key, cas)
    collection.upsert(key, {"locked": "no more"})
    collection.remove(key)


def check_subdocument(collection):
    key = "python-sub"
    collection.upsert(key, {"a": {"b": 1}, "list": [1], "gone": True})
    collection.mutate_in(key, [
        subdocument.upsert("meta.who", "interop", xattr=True, create_parents=True),
        subdocument.upsert("a.c", "new"), subdocument.increment("a.b", 4),
        subdocument.array_append("list", 2), subdocument.remove("gone")])
    found = collection.lookup_in(key, [
        subdocument.get("meta.who", xattr=True), subdocument.get("a.c"), subdocument.get("a.b"),
        subdocument.count("list"), subdocument.exists("gone"), subdocument.get("nothing")])
    equal([found.content_as[str](0), found.content_as[str](1)], ["interop", "new"])
    equal([found.content_as[int](2), found.content_as[int](3)], [5, 2])
    equal(found.exists(4), False)
    refused(PathNotFoundException, lambda: found.content_as[str](5))
    refused(PathNotFoundException, collection.mutate_in, key,
            [subdocument.upsert("a.d", 1), subdocument.remove("nothing")])
    equal(collection.lookup_in(key, [subdocument.exists("a.d")]).exists(0), False)
    collection.remove(key)


def check_durability_and_replicas(collection):
    key = "python-durable"
    for level in (DurabilityLevel.MAJORITY, DurabilityLevel.MAJORITY_AND_PERSIST_TO_ACTIVE,
                  DurabilityLevel.PERSIST_TO_MAJORITY):
        collection.upsert(key, {"level": level.name},
                          UpsertOptions(durability=ServerDurability(level)))
    wanted = {"level": "PERSIST_TO_MAJORITY"}
    equal(collection.get_any_replica(key).content_as[dict], wanted)
    copies = list(collection.get_all_replicas(key))
    equal([copy.content_as[dict] for copy in copies], [wanted] * 2)
    equal(sum(copy.is_replica for copy in copies), 1)
    refused((DocumentUnretrievableException, DocumentNotFoundException),
            collection.get_any_replica, key + "-not")
    paths = [subdocument.get("level")]
    equal(collection.lookup_in_any_replica(key, paths).content_as[str](0), wanted["level"])
    equal(len(list(collection.lookup_in_all_replicas(key, paths))), 2)
    collection.remove(key)


def check_batch(collection):
    wanted = {f"python-batch-{number}": {"number": number} for number in range(500)}
    equal(collection.upsert_multi(wanted).all_ok, True)
    got = collection.get_multi(list(wanted))
    equal({key: each.content_as[dict] for key, each in got.results.items()}, wanted)
    equal(collection.remove_multi(list(wanted)).all_ok, True)


def check_scans(collection):
    keys = [f"python-scan-{number:02}" for number in range(40)]
    stored = [collection.upsert(key, {"key": key}) for key in keys]
    seen = ScanOptions(consistent_with=MutationState(*stored))
    equal(sorted(each.id for each in collection.scan(PrefixScan("python-scan-"), seen)), keys)
    found = collection.scan(RangeScan(ScanTerm(keys[10]), ScanTerm(keys[20], exclusive=True)),
                            ScanOptions(ids_only=True, concurrency=4))
    equal(sorted(each.id for each in found), keys[10:20])
    equal(len(list(collection.scan(SamplingScan(7)))), 7)
    collection.remove_multi(keys)


def check_query(cluster, collection):
    collection.upsert("python-q", {"name": "one"})
    rows = cluster.query("SELECT t.name, META(t).id FROM travel AS t USE KEYS $key",
                         QueryOptions(named_parameters={"key": "python-q"}, metrics=True))
    equal(rows.execute(), [{"name": "one", "id": "python-q"}])
    equal(rows.metadata().metrics().result_count().value, 1)
    for _ in range(2):
        prepared = cluster.query("SELECT RAW t.name FROM travel AS t USE KEYS $1",
                                 QueryOptions(positional_parameters=["python-q"], adhoc=False))
        equal(prepared.execute(), ["one"])
    numbers = cluster.query("SELECT RAW n FROM ARRAY_RANGE(0, 20000) AS n")
    equal(sum(numbers.rows()), 19999 * 20000 // 2)
    collection.remove("python-q")


def check_query_errors(cluster):
    refused(ParsingFailedException, lambda: cluster.query("SELEKT 1").execute())
    failure = refused(CouchbaseException,
                      lambda: cluster.query("SELECT n.* FROM nowhere AS n USE KEYS 'k'").execute())
    equal(failure.context.first_error_code, 12003)
    failure = refused(CouchbaseException,
                      lambda: cluster.query("SELECT COUNT(*) AS c FROM travel").execute())
    equal(failure.context.first_error_code, 4000)


def check_indexes(collection):
    indexes = collection.query_indexes()
    indexes.create_index("python_by_name", ["name"], deferred=True)
    refused(QueryIndexAlreadyExistsException, indexes.create_index, "python_by_name", ["name"])
    indexes.build_deferred_indexes()
    indexes.watch_indexes(["python_by_name"], WatchQueryIndexOptions(timeout=READY_TIMEOUT))
    equal([index.name for index in indexes.get_all_indexes()], ["python_by_name"])
    indexes.drop_index("python_by_name")
    refused(QueryIndexNotFoundException, indexes.drop_index, "python_by_name")


def check_collections(bucket):
    manager = bucket.collections()
    manager.create_collection("inventory", "made_python")
    made = bucket.scope("inventory").collection("made_python")
    made.upsert("k", {"made": True})
    equal(made.get("k").content_as[dict], {"made": True})
    listed = [each.name for scope in manager.get_all_scopes() for each in scope.collections
              if scope.name == "inventory"]
    equal(sorted(listed), ["airline", "made_python"])
    manager.drop_collection("inventory", "made_python")
    refused(CollectionNotFoundException, manager.drop_collection, "inventory", "made_python")


def check_transactions(cluster, collection):
    collection.upsert("python-tx", {"value": 1})

    def change(attempt):
        attempt.insert(collection, "python-tx-new", {"value": 1})
        attempt.replace(attempt.get(collection, "python-tx-new"), {"value": 2})
        attempt.replace(attempt.get(collection, "python-tx"), {"value": 3})

    def fail(attempt):
        attempt.insert(collection, "python-tx-none", {})
        raise ValueError("the transaction is rolled back")

    cluster.transactions.run(change)
    equal([collection.get(key).content_as[dict]["value"] for key in ("python-tx-new", "python-tx")],
          [2, 3])
    refused(TransactionFailed, cluster.transactions.run, fail)
    equal(collection.exists("python-tx-none").exists, False)
    collection.remove_multi(["python-tx-new", "python-tx"])


def check_lost_transaction(ready):
    """Another process ends in the middle of a transaction. The SDK finds the attempt, drops it when
    its time is over, and can change the documents again."""
    key = "python-tx-lost"
    cleaning = TransactionConfig(
        cleanup_window=timedelta(seconds=1), metadata_collection=TransactionKeyspace(
            bucket="travel", scope="_default", collection="_default"))
    cluster = connect(ready["connection_string"], transaction_config=cleaning)
    collection = cluster.bucket("travel").default_collection()
    collection.upsert(key, {"value": 1})
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lost_transaction.py")
    subprocess.run([sys.executable, "-B", program, ready["connection_string"], key], check=True,
                   stderr=subprocess.PIPE, timeout=60)
    staged = collection.lookup_in(key, [subdocument.get("txn.atr.id", xattr=True)])
    record = staged.content_as[str](0)

    def count_attempts():
        found = collection.lookup_in(record, [subdocument.get("attempts", xattr=True)])
        return len(found.content_as[dict](0))

    equal(count_attempts(), 1)
    cluster.transactions.run(lambda attempt: attempt.get(collection, key))  # starts the cleanup
    deadline = time.monotonic() + 30
    while count_attempts() > 0:
        if time.monotonic() > deadline:
            raise AssertionError("the lost attempt is not cleaned up")
        time.sleep(0.1)
    equal(collection.get(key).content_as[dict], {"value": 1})
    cluster.transactions.run(
        lambda attempt: attempt.replace(attempt.get(collection, key), {"value": 2}))
    equal(collection.get(key).content_as[dict], {"value": 2})
    equal(collection.exists(key + "-new").exists, False)
    collection.remove(key)
    cluster.close()


def check_ping(cluster, bucket):
    services = [ServiceType.Query, ServiceType.Management]
    answers = cluster.ping(PingOptions(service_types=services)).endpoints
    equal([[each.state for each in answers[service]] for service in services],
          [[PingState.OK] * 4] * 2)
    answers = bucket.ping(PingOptions(service_types=[ServiceType.KeyValue])).endpoints
    equal([each.state for each in answers[ServiceType.KeyValue]], [PingState.OK] * 4)


def check_exchange(collection):
    equal(collection.get("from-reprise").content_as[dict], {"by": "reprise"})
    collection.upsert("from-python", {"by": "python"})


def connect(connection_string, password="secret", transaction_config=None, **options):
    timeouts = ClusterTimeoutOptions(kv_timeout=timedelta(seconds=10),
                                     connect_timeout=timedelta(seconds=10),
                                     bootstrap_timeout=timedelta(seconds=10))
    made = ClusterOptions(PasswordAuthenticator("app", password, **options),
                          timeout_options=timeouts)
    if transaction_config:
        made["transaction_config"] = transaction_config
    return Cluster.connect(connection_string, made)


def check_tls(ready):
    cluster = connect(ready["connection_string_tls"], cert_path=ready["ca_path"])
    collection = cluster.bucket("travel").default_collection()
    collection.upsert("python-tls", {"tls": True})
    equal(collection.get("python-tls").content_as[dict], {"tls": True})
    collection.remove("python-tls")
    cluster.close()


def check_wrong_password(ready):
    refused(AuthenticationException, connect, ready["connection_string"], "wrong")


def check_features(report, cluster):
    bucket = cluster.bucket("travel")
    collection = bucket.default_collection()
    report.check("wait until ready", cluster.wait_until_ready, READY_TIMEOUT,
                 WaitUntilReadyOptions(service_types=[ServiceType.KeyValue, ServiceType.Query]))
    check_documents(report, "", collection)
    check_documents(report, "named collection: ", bucket.scope("inventory").collection("airline"))
    report.check("counters, append and prepend, large documents", check_binary, collection)
    report.check("locks", check_locks, collection)
    report.check("sub-documents", check_subdocument, collection)
    report.check("durable writes and replicas", check_durability_and_replicas, collection)
    report.check("500 documents at once", check_batch, collection)
    report.check("range scans", check_scans, collection)
    report.check("query: parameters, prepared, many rows", check_query, cluster, collection)
    report.check("query: errors", check_query_errors, cluster)
    report.check("query indexes of a collection", check_indexes, collection)
    report.check("analytics", lambda: equal(
        list(cluster.analytics_query("SELECT VALUE 1", AnalyticsOptions(readonly=True))), [1]))
    report.check("transactions", check_transactions, cluster, collection)
    report.check("collections", check_collections, bucket)
    report.check("buckets", lambda: equal(
        cluster.buckets().get_bucket("travel").name, "travel"))
    report.check("ping of every node", check_ping, cluster, bucket)
    report.check("exchange of documents", check_exchange, collection)


def main():
    ready_file, program = sys.argv[1:]
    with open(ready_file, encoding="utf-8") as file:
        ready = json.load(file)

    def control(*words):
        """Runs `reprise sandbox WORDS` and returns the sandbox's answer."""
        done = subprocess.run([program, "sandbox", *words, "--json", "--ready-file", ready_file],
                              check=True, stdout=subprocess.PIPE, text=True, timeout=60)
        return json.loads(done.stdout)

    report = Report()
    # While all seeds of the connection string exist.
    report.check("TLS", check_tls, ready)
    report.check("a wrong password is refused", check_wrong_password, ready)
    report.check("a lost transaction is cleaned up", check_lost_transaction, ready)
    cluster = connect(ready["connection_string"])
    check_features(report, cluster)
    collection = cluster.bucket("travel").default_collection()
    report.check("faults under load", load.run, collection, "faults",
                 lambda: load.disturb(control))
    report.check("a rebalance under load", load.run, collection, "rebalance",
                 lambda: load.rebalance(control))
    cluster.close()
    print(f"{report.passed} of {report.passed + report.failed} checks passed")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
