"""Writes of several threads while the cluster is disturbed, with a ledger: what the SDK reported
about each write is compared with what the documents contain at the end."""

import itertools
import threading
import time

from couchbase import subdocument
from couchbase.exceptions import (AmbiguousTimeoutException, CouchbaseException,
                                  InvalidArgumentException, RequestCanceledException,
                                  TemporaryFailException, TimeoutException)

WRITERS = 4
JOURNAL_SIZE = 100  # writes to one document
REQUEST_CANCELED = 2  # an error code of the SDK


class Ledger:
    """Each write appends its stamp to a journal. A stamp that was confirmed must be there once, one
    that was refused not at all, and an ambiguous one at most once."""

    def __init__(self):
        self.stamps = itertools.count(1)
        self.outcomes = {}
        self.surprises = []  # errors that no disturbance explains

    def write(self, collection, journal):
        stamp = next(self.stamps)
        try:
            collection.mutate_in(journal, [subdocument.array_append("stamps", stamp)])
            outcome = "applied"
        except (AmbiguousTimeoutException, RequestCanceledException):
            outcome = "unknown"
        except TemporaryFailException as error:
            # Also raised if a retry after a temporary failure was canceled in flight.
            outcome = "unknown" if error.error_code == REQUEST_CANCELED else "refused"
        except InvalidArgumentException:
            outcome = "refused"
        except CouchbaseException as error:
            outcome = "refused"
            self.surprises.append(f"{type(error).__name__}: {error}"[:300])
        self.outcomes[stamp] = outcome

    def audit(self, found):
        """Returns a summary; raises if a write was lost, duplicated or applied after a refusal."""
        counts = {}
        for stamp in found:
            counts[stamp] = counts.get(stamp, 0) + 1
        by_outcome = {"applied": [], "unknown": [], "refused": []}
        for stamp, outcome in self.outcomes.items():
            by_outcome[outcome].append(counts.get(stamp, 0))
        faults = {
            "lost": by_outcome["applied"].count(0),
            "duplicated": sum(count > 1 for count in counts.values()),
            "applied despite a refusal": sum(count > 0 for count in by_outcome["refused"])}
        summary = ", ".join(
            [f"{len(self.outcomes)} writes"]
            + [f"{len(entries)} {outcome}" for outcome, entries in by_outcome.items()]
            + [f"{count} {fault}" for fault, count in faults.items()])
        if any(faults.values()) or not by_outcome["applied"] or self.surprises:
            raise AssertionError(": ".join([summary, *self.surprises[:1]]))
        return summary


def write_until(stopping, ledger, collection, prefix, journals):
    for number in itertools.count():
        journal = f"{prefix}-{number}"
        try:
            collection.insert(journal, {"stamps": []})
        except (TimeoutException, RequestCanceledException, TemporaryFailException,
                InvalidArgumentException):
            continue  # it may still be created later, so another name is used
        journals.append(journal)
        for _ in range(JOURNAL_SIZE):
            if stopping.is_set():
                return
            ledger.write(collection, journal)


def run(collection, name, change):
    """Runs writers while `change` changes the cluster, then audits and removes their documents."""
    ledger, journals, stopping = Ledger(), [], threading.Event()
    crashed = []

    def work(number):
        try:
            write_until(stopping, ledger, collection, f"python-{name}-{number}", journals)
        except CouchbaseException as error:
            crashed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        change()
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    if crashed:
        raise crashed[0]
    found = [stamp for journal in journals
             for stamp in collection.get(journal).content_as[dict]["stamps"]]
    for journal in journals:
        collection.remove(journal)
    return ledger.audit(found)


def disturb(control):
    """Broken connections, temporary failures, refusals, late answers, and a node that goes away and
    returns with its data."""
    for fault in (("--close-after", "--every", "200", "--count", "4"),
                  ("--close-before", "--every", "170", "--count", "4"),
                  ("--status", "0x86", "--every", "40", "--count", "40"),
                  ("--status", "0x04", "--every", "90", "--count", "20"),  # invalid
                  ("--delay", "300ms", "--every", "300", "--count", "4")):
        control("fault", "add", "--key", "python-*", "--nth", "50", *fault)
    time.sleep(3)
    control("fault", "clear")
    control("topology", "kill", "1")
    time.sleep(0.5)
    control("topology", "up", "1")
    time.sleep(1.5)


def wait_for_rebalance(control):
    deadline = time.monotonic() + 60
    while control("topology", "status")["rebalance"]["running"]:
        if time.monotonic() > deadline:
            raise AssertionError("the rebalance does not end")
        time.sleep(0.1)


def rebalance(control):
    """A node takes the place of another one, vbucket by vbucket."""
    control("topology", "add")
    control("topology", "rebalance", "--eject", "1", "--interval", "20ms")
    wait_for_rebalance(control)
    time.sleep(0.5)
