// Reads the document that our command line stored, and stores one for it to read:
// node exchange.mjs READY_FILE

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import couchbase from 'couchbase'

const ready = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const cluster = await couchbase.connect(ready.connection_string, {
  username: 'app',
  password: 'secret',
})
const collection = cluster.bucket('travel').defaultCollection()
const { content } = await collection.get('from-reprise')
assert.deepEqual(content, { by: 'reprise' })
console.log('ok      they read our document')
await collection.upsert('from-node', { by: 'node' })
await cluster.close()
