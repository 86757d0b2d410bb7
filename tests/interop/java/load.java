// Writes of several threads while the cluster is disturbed, with a ledger: what the SDK reported
// about each write is compared with what the documents contain at the end.

import com.couchbase.client.core.error.AmbiguousTimeoutException;
import com.couchbase.client.core.error.CouchbaseException;
import com.couchbase.client.core.error.DocumentNotFoundException;
import com.couchbase.client.core.error.RequestCanceledException;
import com.couchbase.client.core.error.TemporaryFailureException;
import com.couchbase.client.core.error.ValueTooLargeException;
import com.couchbase.client.java.Collection;
import com.couchbase.client.java.json.JsonArray;
import com.couchbase.client.java.json.JsonObject;
import com.couchbase.client.java.kv.MutateInSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** What the SDK reported about a write. */
enum Outcome {
  APPLIED,
  UNKNOWN,
  REFUSED
}

/** Changes the sandbox: runs `reprise sandbox WORDS` and returns the sandbox's answer. */
interface Control {
  JsonObject run(String... words) throws Exception;
}

/**
 * Each writer creates journals and appends stamps to them. A write that was confirmed must be found
 * once, one that was refused not at all, and an ambiguous one at most once.
 */
class Ledger {
  private final AtomicLong lastStamp = new AtomicLong();
  private final Map<Long, Outcome> stamps = new ConcurrentHashMap<>();
  private final Map<String, Outcome> journals = new ConcurrentHashMap<>();
  private final Queue<String> surprises = new ConcurrentLinkedQueue<>();  // not explained by faults

  /** False if the journal may not exist. */
  boolean create(Collection collection, String journal) {
    JsonObject empty = JsonObject.create().put("stamps", JsonArray.create());
    journals.put(journal, attempt(() -> collection.insert(journal, empty)));
    return journals.get(journal) == Outcome.APPLIED;
  }

  void append(Collection collection, String journal) {
    long stamp = lastStamp.incrementAndGet();
    List<MutateInSpec> append = List.of(MutateInSpec.arrayAppend("stamps", List.of(stamp)));
    stamps.put(stamp, attempt(() -> collection.mutateIn(journal, append)));
  }

  private Outcome attempt(Runnable write) {
    try {
      write.run();
      return Outcome.APPLIED;
    } catch (AmbiguousTimeoutException | RequestCanceledException error) {
      return Outcome.UNKNOWN;
    } catch (TemporaryFailureException | ValueTooLargeException error) {
      return Outcome.REFUSED;
    } catch (CouchbaseException error) {
      surprises.add(error.toString().replace('\n', ' '));
      return Outcome.REFUSED;
    }
  }

  /** Reads the stamps of all journals that exist, removes these, and audits what was found. */
  String audit(Collection collection) {
    Map<String, List<Long>> found = new HashMap<>();
    for (String journal : journals.keySet()) {
      try {
        List<Long> content = new ArrayList<>();
        collection.get(journal).contentAsObject().getArray("stamps")
            .forEach(stamp -> content.add(((Number) stamp).longValue()));
        found.put(journal, content);
        collection.remove(journal);
      } catch (DocumentNotFoundException error) {
        // It is missing in `found`.
      }
    }
    return compare(found);
  }

  /** Returns a summary; throws if a write was lost, duplicated or applied after a refusal. */
  private String compare(Map<String, List<Long>> found) {
    Map<Long, Integer> counts = new HashMap<>();
    found.values().forEach(each -> each.forEach(stamp -> counts.merge(stamp, 1, Integer::sum)));
    Map<String, Integer> outcomes = zeros("applied", "unknown", "refused");
    Map<String, Integer> faults =
        zeros("lost", "duplicated", "applied despite a refusal", "unexplained");
    stamps.forEach((stamp, outcome) ->
        judge(outcome, counts.getOrDefault(stamp, 0), outcomes, faults));
    journals.forEach((journal, outcome) ->
        judge(outcome, found.containsKey(journal) ? 1 : 0, outcomes, faults));
    counts.keySet().removeAll(stamps.keySet());
    faults.put("unexplained", counts.size());
    String summary = stamps.size() + journals.size() + " writes" + list(outcomes) + list(faults);
    if (faults.values().stream().anyMatch(count -> count > 0) || outcomes.get("applied") == 0) {
      throw new AssertionError(summary);
    }
    if (!surprises.isEmpty()) {
      throw new AssertionError(summary + ": " + surprises.peek());
    }
    return summary;
  }

  private static void judge(Outcome outcome, int count, Map<String, Integer> outcomes,
      Map<String, Integer> faults) {
    outcomes.merge(outcome.name().toLowerCase(), 1, Integer::sum);
    if (outcome == Outcome.APPLIED && count == 0) {
      faults.merge("lost", 1, Integer::sum);
    }
    if (count > 1) {
      faults.merge("duplicated", 1, Integer::sum);
    }
    if (outcome == Outcome.REFUSED && count > 0) {
      faults.merge("applied despite a refusal", 1, Integer::sum);
    }
  }

  private static Map<String, Integer> zeros(String... names) {
    Map<String, Integer> made = new LinkedHashMap<>();
    List.of(names).forEach(name -> made.put(name, 0));
    return made;
  }

  private static String list(Map<String, Integer> numbers) {
    StringBuilder text = new StringBuilder();
    numbers.forEach((what, count) -> text.append(", ").append(count).append(' ').append(what));
    return text.toString();
  }
}

/** Writers that run while something changes the cluster. */
class Load {
  private static final int WRITERS = 8;
  private static final int JOURNAL_SIZE = 100;  // writes to one document
  private static final long REBALANCE_TIMEOUT_MS = 60_000;

  interface Change {
    void run(Control control) throws Exception;
  }

  /** Runs writers during the change, then audits and removes their documents. */
  static String run(Collection collection, String name, Control control, Change change)
      throws Exception {
    Ledger ledger = new Ledger();
    AtomicBoolean isRunning = new AtomicBoolean(true);
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    List<Future<?>> writers = new ArrayList<>();
    for (int number = 0; number < WRITERS; ++number) {
      String prefix = "java-" + name + "-" + number;
      writers.add(threads.submit(() -> write(isRunning, ledger, collection, prefix)));
    }
    try {
      change.run(control);
    } finally {
      isRunning.set(false);
      threads.shutdown();
    }
    if (!threads.awaitTermination(30, TimeUnit.SECONDS)) {
      throw new AssertionError("the writers do not end");
    }
    for (Future<?> writer : writers) {
      writer.get();  // throws what it threw
    }
    return ledger.audit(collection);
  }

  private static void write(AtomicBoolean isRunning, Ledger ledger, Collection collection,
      String prefix) {
    for (int number = 0; isRunning.get(); ++number) {
      String journal = prefix + "-" + number;
      if (!ledger.create(collection, journal)) {
        continue;  // it may still be created later, so another name is used
      }
      for (int write = 0; write < JOURNAL_SIZE && isRunning.get(); ++write) {
        ledger.append(collection, journal);
      }
    }
  }

  /**
   * Broken connections, temporary failures, refusals, late answers, and a node that goes away and
   * returns with its data.
   */
  static void disturb(Control control) throws Exception {
    addFault(control, "--close-after", "--every", "200", "--count", "4");
    addFault(control, "--close-before", "--every", "170", "--count", "4");
    addFault(control, "--status", "0x86", "--every", "40", "--count", "40");
    addFault(control, "--status", "0x03", "--every", "90", "--count", "20");  // too large
    addFault(control, "--delay", "300ms", "--every", "300", "--count", "4");
    Thread.sleep(3000);
    control.run("fault", "clear");
    control.run("topology", "kill", "1");
    Thread.sleep(500);
    control.run("topology", "up", "1");
    Thread.sleep(1500);
  }

  private static void addFault(Control control, String... fault) throws Exception {
    List<String> words =
        new ArrayList<>(List.of("fault", "add", "--key", "java-*", "--nth", "50"));
    words.addAll(List.of(fault));
    control.run(words.toArray(String[]::new));
  }

  /** A node takes the place of another one, vbucket by vbucket. */
  static void rebalance(Control control) throws Exception {
    control.run("topology", "add");
    control.run("topology", "rebalance", "--eject", "1", "--interval", "20ms");
    long begun = System.nanoTime();
    while (control.run("topology", "status").getObject("rebalance").getBoolean("running")) {
      if (System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(REBALANCE_TIMEOUT_MS)) {
        throw new AssertionError("the rebalance does not end");
      }
      Thread.sleep(100);
    }
    Thread.sleep(500);
  }
}
