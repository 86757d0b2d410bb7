// The Java SDK against the sandbox: java -cp 'CLASSES:JARS/*' SandboxInterop READY_FILE PROGRAM
//
// Expects `reprise sandbox start --nodes 4 --bucket travel --collection inventory.airline
// --ready-file READY_FILE` to be running with the default user, and the document "from-reprise" in
// the bucket. Leaves "from-java" there. PROGRAM is `reprise`, which sets faults and changes the
// topology. Prints one line for each check and exits with 1 if any failed.

import static com.couchbase.client.java.kv.LookupInSpec.count;
import static com.couchbase.client.java.kv.LookupInSpec.exists;
import static com.couchbase.client.java.kv.LookupInSpec.get;
import static com.couchbase.client.java.kv.MutateInSpec.arrayAppend;
import static com.couchbase.client.java.kv.MutateInSpec.increment;
import static com.couchbase.client.java.kv.MutateInSpec.remove;
import static com.couchbase.client.java.kv.MutateInSpec.upsert;
import static com.couchbase.client.java.query.QueryOptions.queryOptions;

import com.couchbase.client.core.diagnostics.PingState;
import com.couchbase.client.core.error.CasMismatchException;
import com.couchbase.client.core.error.CouchbaseException;
import com.couchbase.client.core.error.DocumentExistsException;
import com.couchbase.client.core.error.DocumentNotFoundException;
import com.couchbase.client.core.error.DocumentNotLockedException;
import com.couchbase.client.core.error.DocumentUnretrievableException;
import com.couchbase.client.core.error.ErrorCodeAndMessage;
import com.couchbase.client.core.error.IndexFailureException;
import com.couchbase.client.core.error.ParsingFailureException;
import com.couchbase.client.core.error.PlanningFailureException;
import com.couchbase.client.core.error.TimeoutException;
import com.couchbase.client.core.error.context.QueryErrorContext;
import com.couchbase.client.core.error.subdoc.PathNotFoundException;
import com.couchbase.client.core.msg.kv.DurabilityLevel;
import com.couchbase.client.core.retry.RetryReason;
import com.couchbase.client.core.service.ServiceType;
import com.couchbase.client.java.Bucket;
import com.couchbase.client.java.Cluster;
import com.couchbase.client.java.ClusterOptions;
import com.couchbase.client.java.Collection;
import com.couchbase.client.java.codec.RawBinaryTranscoder;
import com.couchbase.client.java.diagnostics.PingOptions;
import com.couchbase.client.java.diagnostics.WaitUntilReadyOptions;
import com.couchbase.client.java.json.JsonArray;
import com.couchbase.client.java.json.JsonObject;
import com.couchbase.client.java.kv.DecrementOptions;
import com.couchbase.client.java.kv.GetOptions;
import com.couchbase.client.java.kv.IncrementOptions;
import com.couchbase.client.java.kv.LookupInMacro;
import com.couchbase.client.java.kv.MutateInOptions;
import com.couchbase.client.java.kv.MutationResult;
import com.couchbase.client.java.kv.ReplaceOptions;
import com.couchbase.client.java.kv.StoreSemantics;
import com.couchbase.client.java.kv.UpsertOptions;
import com.couchbase.client.java.query.QueryOptions;
import com.couchbase.client.java.query.QueryResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class SandboxInterop {
  private static final Duration READY_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration KV_TIMEOUT = Duration.ofSeconds(10);
  private static int passed = 0;
  private static int failed = 0;

  interface Body {
    void run() throws Exception;
  }

  /** A check that reports what it has counted. */
  interface Count {
    String run() throws Exception;
  }

  static void check(String name, Body body) {
    checkCount(name, () -> {
      body.run();
      return "";
    });
  }

  static void checkCount(String name, Count body) {
    try {
      String detail = body.run();
      ++passed;
      System.out.println("check ok " + name + (detail.isEmpty() ? "" : " (" + detail + ")"));
    } catch (Exception | AssertionError error) {
      ++failed;
      String said = error.toString().replace('\n', ' ');
      System.out.println("check FAILED " + name + ": " + said);
    }
  }

  static void expect(boolean isTrue, String what) {
    if (!isTrue) {
      throw new AssertionError("expected: " + what);
    }
  }

  static void equal(Object got, Object wanted) {
    expect(Objects.equals(got, wanted), wanted + ", got: " + got);
  }

  /** Runs an action that must fail, and returns its failure. */
  static <E extends Exception> E refused(Class<E> wanted, Body body) {
    try {
      body.run();
    } catch (Exception error) {
      if (wanted.isInstance(error)) {
        return wanted.cast(error);
      }
      throw new AssertionError("expected: " + wanted.getSimpleName() + ", got: " + error);
    }
    throw new AssertionError("expected: " + wanted.getSimpleName() + ", got: success");
  }

  /** The codes of the query service for the failure. */
  static List<Integer> serviceCodes(CouchbaseException error) {
    return ((QueryErrorContext) error.context()).errors().stream()
        .map(ErrorCodeAndMessage::code).toList();
  }

  static JsonObject named(String name) {
    return JsonObject.create().put("name", name);
  }

  static void checkDocuments(String label, Collection collection) {
    String key = "java-document";
    check(label + "upsert and get", () -> {
      JsonObject content = named("first").put("at", JsonArray.from(1, 2, 3));
      MutationResult stored = collection.upsert(key, content);
      expect(stored.mutationToken().isPresent(), "a mutation token");
      equal(collection.get(key).contentAsObject(), content);
      equal(collection.get(key).cas(), stored.cas());
    });
    check(label + "insert refuses an existing document", () ->
        refused(DocumentExistsException.class, () -> collection.insert(key, named("other"))));
    check(label + "replace with the right cas, refuse the wrong one", () -> {
      ReplaceOptions same = ReplaceOptions.replaceOptions().cas(collection.get(key).cas());
      collection.replace(key, named("second"), same);
      refused(CasMismatchException.class, () -> collection.replace(key, named("third"), same));
      equal(collection.get(key).contentAsObject(), named("second"));
    });
    check(label + "exists", () -> {
      expect(collection.exists(key).exists(), "the document exists");
      expect(!collection.exists(key + "-not").exists(), "the other one does not");
    });
    check(label + "touch, get and touch, expiry", () -> {
      Instant begin = Instant.now();
      collection.touch(key, Duration.ofSeconds(100));
      collection.getAndTouch(key, Duration.ofSeconds(200));
      Instant expiry = collection.get(key, GetOptions.getOptions().withExpiry(true))
          .expiryTime().orElseThrow();
      expect(expiry.isAfter(begin.plusSeconds(100)), "the second expiry counts");
    });
    check(label + "projection", () ->
        equal(collection.get(key, GetOptions.getOptions().project("name")).contentAsObject(),
            named("second")));
    check(label + "remove, then it is missing", () -> {
      collection.remove(key);
      refused(DocumentNotFoundException.class, () -> collection.get(key));
      refused(DocumentNotFoundException.class, () -> collection.remove(key));
      refused(DocumentNotFoundException.class, () -> collection.replace(key, named("none")));
      refused(DocumentNotFoundException.class,
          () -> collection.touch(key, Duration.ofSeconds(1)));
    });
  }

  static void checkBinary(Collection collection) {
    check("counters", () -> {
      String key = "java-counter";
      IncrementOptions first = IncrementOptions.incrementOptions().initial(40);
      equal(collection.binary().increment(key, first).content(), 40L);
      equal(collection.binary()
          .increment(key, IncrementOptions.incrementOptions().delta(5)).content(), 45L);
      equal(collection.binary()
          .decrement(key, DecrementOptions.decrementOptions().delta(3)).content(), 42L);
      equal(collection.get(key).contentAs(Long.class), 42L);
      collection.remove(key);
      refused(DocumentNotFoundException.class, () -> collection.binary().increment(key));
    });
    check("append and prepend", () -> {
      String key = "java-text";
      var raw = RawBinaryTranscoder.INSTANCE;
      collection.upsert(key, bytes("middle"), UpsertOptions.upsertOptions().transcoder(raw));
      collection.binary().append(key, bytes(" end"));
      collection.binary().prepend(key, bytes("start "));
      var got = collection.get(key, GetOptions.getOptions().transcoder(raw));
      expect(Arrays.equals(got.contentAsBytes(), bytes("start middle end")), "three parts");
      collection.remove(key);
    });
    check("a large document, compressible and not", () -> {
      String key = "java-large";
      var raw = RawBinaryTranscoder.INSTANCE;
      byte[] random = new byte[1_000_000];
      new Random(1).nextBytes(random);
      for (byte[] content : List.of(new byte[1_000_000], random)) {
        collection.upsert(key, content, UpsertOptions.upsertOptions().transcoder(raw));
        var got = collection.get(key, GetOptions.getOptions().transcoder(raw));
        expect(Arrays.equals(got.contentAsBytes(), content), "the same bytes");
      }
      collection.remove(key);
    });
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static void checkLocks(Collection collection) {
    String key = "java-lock";
    check("get and lock, others wait in vain, unlock", () -> {
      collection.upsert(key, named("free"));
      long cas = collection.getAndLock(key, Duration.ofSeconds(15)).cas();
      TimeoutException late = refused(TimeoutException.class, () -> collection.upsert(key,
          named("other"), UpsertOptions.upsertOptions().timeout(Duration.ofMillis(400))));
      expect(late.retryReasons().contains(RetryReason.KV_LOCKED), "retried because it is locked");
      equal(collection.get(key).contentAsObject(), named("free"));
      collection.unlock(key, cas);
      collection.upsert(key, named("later"));
    });
    check("unlock refuses a wrong cas and a free document", () -> {
      long cas = collection.getAndLock(key, Duration.ofSeconds(15)).cas();
      refused(CasMismatchException.class, () -> collection.unlock(key, cas + 1));
      collection.unlock(key, cas);
      refused(DocumentNotLockedException.class, () -> collection.unlock(key, cas));
      collection.remove(key);
    });
  }

  static void checkSubdocument(Collection collection) {
    String key = "java-sub";
    check("sub-document mutations and lookups", () -> {
      collection.upsert(key, JsonObject.fromJson("{\"a\":{\"b\":1},\"list\":[1],\"gone\":true}"));
      var changed = collection.mutateIn(key, List.of(
          upsert("meta.who", "interop").xattr().createPath(), upsert("a.c", "new"),
          increment("a.b", 4), arrayAppend("list", List.of(2)), remove("gone")));
      equal(changed.contentAs(2, Long.class), 5L);
      var found = collection.lookupIn(key, List.of(get("meta.who").xattr(), get("a.c"),
          get("a.b"), count("list"), exists("gone")));
      equal(found.contentAs(0, String.class), "interop");
      equal(found.contentAs(1, String.class), "new");
      equal(found.contentAs(2, Integer.class), 5);
      equal(found.contentAs(3, Integer.class), 2);
      expect(!found.exists(4), "the removed path is gone");
    });
    check("sub-document errors by path", () -> {
      var found = collection.lookupIn(key, List.of(get("nothing"), get("a.c")));
      refused(PathNotFoundException.class, () -> found.contentAs(0, String.class));
      equal(found.contentAs(1, String.class), "new");
      refused(PathNotFoundException.class,
          () -> collection.mutateIn(key, List.of(upsert("a.d", 1), remove("nothing"))));
      expect(!collection.lookupIn(key, List.of(exists("a.d"))).exists(0), "all or nothing");
    });
    check("sub-document macros and store semantics", () -> {
      var options = MutateInOptions.mutateInOptions().storeSemantics(StoreSemantics.UPSERT);
      MutationResult made =
          collection.mutateIn(key + "-made", List.of(upsert("name", "made")), options);
      var found = collection.lookupIn(key + "-made",
          List.of(get(LookupInMacro.CAS).xattr(), get("name")));
      expect(!found.contentAs(0, String.class).isEmpty(), "a cas as text");
      equal(found.cas(), made.cas());
      equal(found.contentAs(1, String.class), "made");
      collection.remove(key + "-made");
      collection.remove(key);
      refused(DocumentNotFoundException.class,
          () -> collection.lookupIn(key, List.of(get("a"))));
    });
  }

  static void checkDurabilityAndReplicas(Collection collection) {
    String key = "java-durable";
    check("durable upserts of every level", () -> {
      for (var level : List.of(DurabilityLevel.MAJORITY,
          DurabilityLevel.MAJORITY_AND_PERSIST_TO_ACTIVE, DurabilityLevel.PERSIST_TO_MAJORITY)) {
        collection.upsert(key, named(level.name()),
            UpsertOptions.upsertOptions().durability(level));
        equal(collection.get(key).contentAsObject(), named(level.name()));
      }
    });
    check("any replica, all replicas", () -> {
      JsonObject wanted = named(DurabilityLevel.PERSIST_TO_MAJORITY.name());
      equal(collection.getAnyReplica(key).contentAsObject(), wanted);
      var copies = collection.getAllReplicas(key).collect(Collectors.toList());
      equal(copies.size(), 2);
      equal(copies.stream().filter(copy -> copy.isReplica()).count(), 1L);
      copies.forEach(copy -> equal(copy.contentAsObject(), wanted));
      refused(DocumentUnretrievableException.class,
          () -> collection.getAnyReplica(key + "-not"));
    });
    check("sub-document lookup in all replicas", () -> {
      var copies = collection.lookupInAllReplicas(key, List.of(get("name")))
          .collect(Collectors.toList());
      equal(copies.size(), 2);
      copies.forEach(copy -> equal(copy.contentAs(0, String.class), "PERSIST_TO_MAJORITY"));
      collection.remove(key);
    });
  }

  static void checkBatch(Collection collection) {
    check("500 documents at once over all nodes", () -> {
      List<String> keys = IntStream.range(0, 500).mapToObj(i -> "java-batch-" + i).toList();
      var async = collection.async();
      all(keys.stream().map(key -> async.upsert(key, named(key))).toList());
      var got = keys.stream().map(async::get).toList();
      all(got);
      for (int i = 0; i < keys.size(); ++i) {
        equal(got.get(i).get().contentAsObject(), named(keys.get(i)));
      }
      all(keys.stream().map(async::remove).toList());
    });
  }

  static void all(List<? extends CompletableFuture<?>> futures) {
    CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new)).join();
  }

  static void checkQueryRows(Cluster cluster, Collection collection) {
    check("query: constants", () -> {
      QueryResult found = cluster.query("SELECT 1 AS one, \"two\" AS two",
          queryOptions().metrics(true).clientContextId("java-constants"));
      equal(found.rowsAsObject(), List.of(JsonObject.create().put("one", 1).put("two", "two")));
      equal(found.metaData().clientContextId(), "java-constants");
      equal(found.metaData().metrics().orElseThrow().resultCount(), 1L);
    });
    check("query: documents by their keys", () -> {
      collection.upsert("java-q-1", named("one"));
      collection.upsert("java-q-2", named("two"));
      var rows = cluster.query(
          "SELECT t.name, META(t).id FROM travel AS t USE KEYS [\"java-q-1\", \"java-q-2\"]",
          queryOptions().readonly(true)).rowsAsObject();
      equal(rows.stream().map(row -> row.getString("id") + row.getString("name")).sorted()
          .toList(), List.of("java-q-1one", "java-q-2two"));
    });
    check("query: positional and named parameters", () -> {
      String statement = "SELECT RAW t.name FROM travel AS t USE KEYS ";
      equal(cluster.query(statement + "$1",
          queryOptions().parameters(JsonArray.from("java-q-1"))).rowsAs(String.class),
          List.of("one"));
      equal(cluster.query(statement + "$key",
          queryOptions().parameters(JsonObject.create().put("key", "java-q-2")))
          .rowsAs(String.class), List.of("two"));
    });
    check("query: in a scope", () -> {
      cluster.bucket("travel").scope("inventory").collection("airline")
          .upsert("java-q", named("scoped"));
      equal(cluster.bucket("travel").scope("inventory")
          .query("SELECT RAW a.name FROM airline AS a USE KEYS \"java-q\"")
          .rowsAs(String.class), List.of("scoped"));
    });
    check("query: 20000 rows as a reactive stream", () -> {
      long sum = cluster.reactive()
          .query("SELECT RAW n FROM ARRAY_RANGE(0, 20000) AS n",
              queryOptions().readonly(true))
          .flatMapMany(result -> result.rowsAs(Long.class)).reduce(0L, Long::sum)
          .block(READY_TIMEOUT);
      equal(sum, 19999L * 20000 / 2);
    });
  }

  static void checkQueryChanges(Cluster cluster, Collection collection) {
    String insert = "INSERT INTO travel (KEY, VALUE) VALUES ($key, $value)";
    JsonObject parameters =
        JsonObject.create().put("key", "java-q-made").put("value", named("made"));
    check("query: insert by key, seen by key-value", () -> {
      QueryResult made = cluster.query(insert + " RETURNING META().id",
          queryOptions().parameters(parameters).metrics(true));
      equal(made.rowsAsObject().get(0).getString("id"), "java-q-made");
      equal(made.metaData().metrics().orElseThrow().mutationCount(), 1L);
      equal(collection.get("java-q-made").contentAsObject(), named("made"));
    });
    check("query: a second insert of the key is refused", () -> {
      var error = refused(DocumentExistsException.class,
          () -> cluster.query(insert, queryOptions().parameters(parameters)));
      equal(serviceCodes(error), List.of(12009));
    });
    check("query: delete by key", () -> {
      cluster.query("DELETE FROM travel USE KEYS $1",
          queryOptions().parameters(JsonArray.from("java-q-made")));
      expect(!collection.exists("java-q-made").exists(), "it is gone");
    });
    check("query: a write under readonly is refused", () -> {
      var error = refused(CouchbaseException.class,
          () -> cluster.query(insert, queryOptions().parameters(parameters).readonly(true)));
      equal(serviceCodes(error), List.of(1000));
      expect(!collection.exists("java-q-made").exists(), "nothing was written");
    });
  }

  static void checkQueryPlans(Cluster cluster) {
    check("query: a prepared statement, twice", () -> {
      QueryOptions options = queryOptions().adhoc(false);
      for (String wanted : List.of("one", "two")) {
        options.parameters(JsonArray.from(wanted.equals("one") ? "java-q-1" : "java-q-2"));
        equal(cluster.query("SELECT RAW t.name FROM travel AS t USE KEYS $1", options)
            .rowsAs(String.class), List.of(wanted));
      }
    });
    check("query: a prepared statement with a syntax error", () ->
        refused(ParsingFailureException.class,
            () -> cluster.query("SELECT FROM WHERE", queryOptions().adhoc(false))));
    check("query: a syntax error", () -> {
      var error = refused(ParsingFailureException.class, () -> cluster.query("SELEKT 1"));
      equal(serviceCodes(error), List.of(3000));
    });
    check("query: an unknown keyspace", () -> {
      var error = refused(IndexFailureException.class,
          () -> cluster.query("SELECT n.* FROM nowhere AS n USE KEYS \"k\""));
      equal(serviceCodes(error), List.of(12003));
    });
    check("query: without an index nothing is planned", () -> {
      var error = refused(PlanningFailureException.class,
          () -> cluster.query("SELECT COUNT(*) AS count FROM travel"));
      equal(serviceCodes(error), List.of(4000));
    });
    check("query: indexes are made, listed, used and dropped", () -> {
      var indexes = cluster.bucket("travel").defaultCollection().queryIndexes();
      indexes.createPrimaryIndex();
      equal(indexes.getAllIndexes().stream().map(index -> index.name()).toList(),
          List.of("#primary"));
      long count = cluster.query("SELECT COUNT(*) AS count FROM travel")
          .rowsAsObject().get(0).getLong("count");
      expect(count >= 2, "at least two documents");
      indexes.dropPrimaryIndex();
    });
  }

  static void checkManagement(Cluster cluster, Bucket bucket) {
    check("management: the bucket is listed", () ->
        expect(cluster.buckets().getAllBuckets().containsKey("travel"), "travel"));
    check("management: a collection is made, used and dropped", () -> {
      bucket.collections().createCollection("inventory", "made_java");
      Collection made = bucket.scope("inventory").collection("made_java");
      made.upsert("k", named("made"));
      equal(made.get("k").contentAsObject(), named("made"));
      bucket.collections().dropCollection("inventory", "made_java");
    });
    check("analytics: constants", () ->
        equal(cluster.analyticsQuery("SELECT VALUE 1").rowsAs(Integer.class), List.of(1)));
    check("ping of every node, key-value and query", () -> {
      var report = bucket.ping(PingOptions.pingOptions()
          .serviceTypes(Set.of(ServiceType.KV, ServiceType.QUERY)));
      for (var service : List.of(ServiceType.KV, ServiceType.QUERY)) {
        var nodes = report.endpoints().get(service);
        equal(nodes.size(), 4);
        nodes.forEach(node -> equal(node.state(), PingState.OK));
      }
    });
  }

  static void checkExchange(Collection collection) {
    check("exchange: they read our document", () ->
        equal(collection.get("from-reprise").contentAsObject(),
            JsonObject.create().put("by", "reprise")));
    check("exchange: they store a document for us", () ->
        collection.upsert("from-java", JsonObject.create().put("by", "java")));
  }

  static void checkWrongPassword(String connectionString) {
    check("a wrong password is refused", () -> {
      try (Cluster cluster = Cluster.connect(connectionString, "app", "wrong")) {
        Collection collection = cluster.bucket("travel").defaultCollection();
        TimeoutException late = refused(TimeoutException.class, () -> collection.get("k",
            GetOptions.getOptions().timeout(Duration.ofSeconds(1))));
        expect(late.retryReasons().contains(RetryReason.AUTHENTICATION_ERROR),
            "retried for the login, got: " + late.retryReasons());
      }
    });
  }

  static void checkLoad(Cluster cluster, Control control) {
    Collection collection = cluster.bucket("travel").defaultCollection();
    checkCount("faults under load",
        () -> Load.run(collection, "faults", control, Load::disturb));
    checkCount("a rebalance under load",
        () -> Load.run(collection, "rebalance", control, Load::rebalance));
  }

  static Control controlOf(String readyFile, String program) {
    return words -> {
      List<String> line = new ArrayList<>(List.of(program, "sandbox"));
      line.addAll(List.of(words));
      line.addAll(List.of("--json", "--ready-file", readyFile));
      Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      expect(process.waitFor() == 0, "success of " + line + ", got: " + output);
      return JsonObject.fromJson(output);
    };
  }

  static void checkAll(Cluster cluster) {
    Bucket bucket = cluster.bucket("travel");
    check("wait until ready", () -> {
      bucket.waitUntilReady(READY_TIMEOUT);
      cluster.waitUntilReady(READY_TIMEOUT, WaitUntilReadyOptions.waitUntilReadyOptions()
          .serviceTypes(ServiceType.KV, ServiceType.QUERY));
    });
    Collection collection = bucket.defaultCollection();
    checkDocuments("", collection);
    checkDocuments("named collection: ", bucket.scope("inventory").collection("airline"));
    checkBinary(collection);
    checkLocks(collection);
    checkSubdocument(collection);
    checkDurabilityAndReplicas(collection);
    checkBatch(collection);
    checkQueryRows(cluster, collection);
    checkQueryChanges(cluster, collection);
    checkQueryPlans(cluster);
    checkManagement(cluster, bucket);
    checkExchange(collection);
  }

  public static void main(String[] arguments) throws Exception {
    JsonObject ready = JsonObject.fromJson(Files.readString(Path.of(arguments[0])));
    String connectionString = ready.getString("connection_string");
    checkWrongPassword(connectionString);
    ClusterOptions options = ClusterOptions.clusterOptions("app", "secret")
        .environment(made -> made.timeoutConfig(each -> each.kvTimeout(KV_TIMEOUT)));
    try (Cluster cluster = Cluster.connect(connectionString, options)) {
      checkAll(cluster);
      // Last, because a node of the connection string is removed.
      checkLoad(cluster, controlOf(arguments[0], arguments[1]));
    }
    System.out.println(passed + " of " + (passed + failed) + " checks passed");
    System.exit(failed == 0 ? 0 : 1);
  }
}
