// The Node.js SDK against the sandbox: node sandbox_interop.mjs READY_FILE PROGRAM
//
// Expects `reprise sandbox start --nodes 4 --tls --bucket travel --collection inventory.airline
// --ready-file READY_FILE` to be running with the default user, and the document "from-reprise" in
// the bucket. Leaves "from-node" there. PROGRAM is `reprise`, which sets faults and changes the
// topology. Prints one line for each check and exits with 1 if any failed.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import couchbase from 'couchbase'
import * as load from './load.mjs'

const check_timeout_ms = 20_000
const load_timeout_ms = 90_000
const results = []

function with_timeout(promise, what, timeout_ms) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer in time`)), timeout_ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

async function check(name, body, timeout_ms = check_timeout_ms) {
  try {
    const detail = await with_timeout(body(), name, timeout_ms)
    results.push({ name, is_ok: true })
    console.log(`check ok ${name}` + (detail ? ` (${detail})` : ''))
  } catch (error) {
    results.push({ name, is_ok: false })
    console.log(`check FAILED ${name}: ${error.name}: ${error.message}`)
  }
}

async function check_documents(label, collection) {
  const key = `${label}-document`
  await check(`${label}: upsert and get`, async () => {
    await collection.upsert(key, { name: 'first', at: [1, 2, 3] })
    const got = await collection.get(key)
    assert.deepEqual(got.content, { name: 'first', at: [1, 2, 3] })
  })
  await check(`${label}: replace with the right cas, refuse the wrong one`, async () => {
    const { cas } = await collection.get(key)
    await collection.replace(key, { name: 'second' }, { cas })
    await assert.rejects(
      collection.replace(key, { name: 'third' }, { cas }),
      couchbase.CasMismatchError
    )
    assert.deepEqual((await collection.get(key)).content, { name: 'second' })
  })
  await check(`${label}: insert refuses an existing document`, async () => {
    await assert.rejects(collection.insert(key, {}), couchbase.DocumentExistsError)
  })
  await check(`${label}: exists, touch, get and touch`, async () => {
    assert.equal((await collection.exists(key)).exists, true)
    assert.equal((await collection.exists(`${key}-not`)).exists, false)
    await collection.touch(key, 100)
    await collection.getAndTouch(key, 200)
    const { expiryTime } = await collection.get(key, { withExpiry: true })
    assert.ok(expiryTime > Date.now() / 1000 + 100)
  })
  await check(`${label}: remove, then it is gone`, async () => {
    await collection.remove(key)
    await assert.rejects(collection.get(key), couchbase.DocumentNotFoundError)
  })
}

async function check_binary(label, collection) {
  await check(`${label}: counters`, async () => {
    const key = `${label}-counter`
    const binary = collection.binary()
    assert.equal((await binary.increment(key, 1, { initial: 40 })).value, 40)
    assert.equal((await binary.increment(key, 5)).value, 45)
    assert.equal((await binary.decrement(key, 3)).value, 42)
    assert.equal((await collection.get(key)).content, 42)
    await collection.remove(key)
  })
  await check(`${label}: append and prepend`, async () => {
    const key = `${label}-text`
    await collection.upsert(key, Buffer.from('middle'))
    await collection.binary().append(key, ' end')
    await collection.binary().prepend(key, 'start ')
    assert.equal((await collection.get(key)).content.toString(), 'start middle end')
    await collection.remove(key)
  })
}

async function check_locks(label, collection) {
  await check(`${label}: lock, refuse others, unlock`, async () => {
    const key = `${label}-lock`
    await collection.upsert(key, { locked: false })
    const { cas } = await collection.getAndLock(key, 10)
    await assert.rejects(collection.upsert(key, {}, { timeout: 500 }))
    await collection.unlock(key, cas)
    await collection.upsert(key, { locked: 'no more' })
    await collection.remove(key)
  })
}

async function check_subdocument(label, collection) {
  await check(`${label}: sub-document lookups and mutations`, async () => {
    const key = `${label}-sub`
    const { LookupInSpec, MutateInSpec } = couchbase
    await collection.upsert(key, { a: { b: 1 }, list: [1], gone: true })
    await collection.mutateIn(key, [
      MutateInSpec.upsert('a.c', 'new'),
      MutateInSpec.increment('a.b', 4),
      MutateInSpec.arrayAppend('list', 2),
      MutateInSpec.remove('gone'),
      MutateInSpec.upsert('meta.who', 'interop', { createPath: true, xattr: true }),
    ])
    const found = await collection.lookupIn(key, [
      LookupInSpec.get('a.c'),
      LookupInSpec.get('a.b'),
      LookupInSpec.count('list'),
      LookupInSpec.exists('gone'),
      LookupInSpec.get('meta.who', { xattr: true }),
    ])
    assert.equal(found.content[0].value, 'new')
    assert.equal(found.content[1].value, 5)
    assert.equal(found.content[2].value, 2)
    assert.equal(found.content[3].value, false)
    assert.equal(found.content[4].value, 'interop')
    await collection.remove(key)
  })
  await check(`${label}: sub-document errors by path`, async () => {
    const key = `${label}-sub-errors`
    await collection.upsert(key, { a: 1 })
    const found = await collection.lookupIn(key, [couchbase.LookupInSpec.get('missing')])
    assert.ok(found.content[0].error instanceof couchbase.PathNotFoundError)
    await collection.remove(key)
  })
}

async function check_batch(label, collection) {
  await check(`${label}: 500 documents at once over all nodes`, async () => {
    const keys = Array.from({ length: 500 }, (_, i) => `${label}-batch-${i}`)
    await Promise.all(keys.map((key, i) => collection.upsert(key, { i })))
    const got = await Promise.all(keys.map((key) => collection.get(key)))
    got.forEach((each, i) => assert.equal(each.content.i, i))
    await Promise.all(keys.map((key) => collection.remove(key)))
  })
  await check(`${label}: a large document, compressible and not`, async () => {
    const key = `${label}-large`
    for (const bytes of [Buffer.alloc(1_000_000, 'x'), randomBytes(1_000_000)]) {
      await collection.upsert(key, bytes)
      assert.ok(bytes.equals((await collection.get(key)).content))
    }
    await collection.remove(key)
  })
}

async function check_connection(label, connection_string, options) {
  let cluster
  await check(`${label}: connect`, async () => {
    cluster = await couchbase.connect(connection_string, {
      username: 'app',
      password: 'secret',
      ...options,
    })
  })
  if (!cluster) {
    return
  }
  const bucket = cluster.bucket('travel')
  const plain = bucket.defaultCollection()
  await check_documents(label, plain)
  await check_binary(label, plain)
  await check_locks(label, plain)
  await check_subdocument(label, plain)
  await check_batch(label, plain)
  const named = bucket.scope('inventory').collection('airline')
  await check_documents(`${label}, named collection`, named)
  await check_subdocument(`${label}, named collection`, named)
  await check(`${label}: an unknown collection is reported`, async () => {
    const missing = bucket.scope('inventory').collection('nothing')
    await assert.rejects(missing.get('k', { timeout: 1000 }))
  })
  await check(`${label}: a collection made over management HTTP can be used`, async () => {
    const name = `made_${label}`
    await bucket.collections().createCollection(name, 'inventory')
    const made = bucket.scope('inventory').collection(name)
    await made.upsert('k', { made: true })
    assert.equal((await made.get('k')).content.made, true)
    await bucket.collections().dropCollection(name, 'inventory')
  })
  await check(`${label}: ping`, async () => {
    const report = await bucket.ping({ serviceTypes: [couchbase.ServiceType.KeyValue] })
    const nodes = Object.values(report.services).flat()
    assert.ok(nodes.length >= 4)
    nodes.forEach((node) => assert.equal(node.state, couchbase.PingState.Ok))
  })
  await check(`${label}: close`, () => cluster.close())
}

async function check_exchange_and_load(connection_string, control) {
  const cluster = await couchbase.connect(connection_string, {
    username: 'app',
    password: 'secret',
    timeouts: { kvTimeout: 10_000 },
  })
  const collection = cluster.bucket('travel').defaultCollection()
  await check('exchange of documents', async () => {
    assert.deepEqual((await collection.get('from-reprise')).content, { by: 'reprise' })
    await collection.upsert('from-node', { by: 'node' })
  })
  await check(
    'faults under load',
    () => load.run(collection, 'faults', () => load.disturb(control)),
    load_timeout_ms
  )
  await check(
    'a rebalance under load',
    () => load.run(collection, 'rebalance', () => load.rebalance(control)),
    load_timeout_ms
  )
  await cluster.close()
}

const [ready_file, program] = process.argv.slice(2)
const ready = JSON.parse(readFileSync(ready_file, 'utf8'))

// Runs `reprise sandbox WORDS` and returns the sandbox's answer.
async function control(...words) {
  const line = ['sandbox', ...words, '--json', '--ready-file', ready_file]
  const { stdout } = await promisify(execFile)(program, line, { timeout: 60_000 })
  return JSON.parse(stdout)
}

await check_connection('plain', ready.connection_string, {})
if (ready.connection_string_tls) {
  await check_connection('tls', ready.connection_string_tls, {
    security: { trustStorePath: ready.ca_path },
  })
}
await check('wrong password: refused', async () => {
  await assert.rejects(
    couchbase.connect(ready.connection_string, { username: 'app', password: 'wrong' }),
    couchbase.AuthenticationFailureError
  )
})
// Last, because a node of the connection string is removed.
await check_exchange_and_load(ready.connection_string, control)

const failed = results.filter((each) => !each.is_ok)
console.log(`${results.length - failed.length} of ${results.length} checks passed`)
process.exit(failed.length === 0 ? 0 : 1)
