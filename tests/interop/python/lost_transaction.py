"""Stages changes in a transaction and ends without a commit or a rollback, as a process that is
killed: python lost_transaction.py CONNECTION_STRING KEY. The document KEY must exist."""

import os
import sys
from datetime import timedelta

from couchbase.auth import PasswordAuthenticator
from couchbase.cluster import Cluster
from couchbase.options import ClusterOptions, TransactionConfig


def main():
    connection_string, key = sys.argv[1:]
    cluster = Cluster.connect(connection_string, ClusterOptions(
        PasswordAuthenticator("app", "secret"),
        transaction_config=TransactionConfig(timeout=timedelta(seconds=1),
                                             cleanup_lost_attempts=False)))
    collection = cluster.bucket("travel").default_collection()

    def stage(attempt):
        attempt.replace(attempt.get(collection, key), {"value": "staged"})
        attempt.insert(collection, key + "-new", {"value": "staged"})
        os._exit(0)

    cluster.transactions.run(stage)


if __name__ == "__main__":
    main()
