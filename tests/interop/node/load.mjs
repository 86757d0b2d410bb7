// Concurrent writers while the cluster is disturbed, with a ledger: what the SDK reported about
// each write is compared with what the documents contain at the end.

import { setTimeout as sleep } from 'node:timers/promises'
import couchbase from 'couchbase'

const writer_count = 8
const journal_size = 100 // writes to one document
const rebalance_timeout_ms = 60_000

// "applied", "refused" or "unknown", from the error of a write. Errors that no disturbance explains
// go to `surprises`.
function outcome_of(error, surprises) {
  if (
    error instanceof couchbase.AmbiguousTimeoutError ||
    error instanceof couchbase.RequestCanceledError
  ) {
    return 'unknown'
  }
  if (
    !(error instanceof couchbase.TemporaryFailureError) &&
    !(error instanceof couchbase.ValueTooLargeError)
  ) {
    surprises.push(`${error.name}: ${error.message}`.slice(0, 300))
  }
  return 'refused'
}

// Each writer creates journals and appends stamps to them. A write that was confirmed must be found
// once, one that was refused not at all, and an ambiguous one at most once.
class Ledger {
  journals = new Map() // the outcome of each creation
  stamps = new Map() // the outcome of each append
  surprises = []

  async create(collection, journal) {
    this.journals.set(journal, await this.#attempt(collection.insert(journal, { stamps: [] })))
    return this.journals.get(journal) === 'applied'
  }

  async append(collection, journal) {
    const stamp = this.stamps.size + 1
    this.stamps.set(stamp, 'unknown') // takes the number
    const append = couchbase.MutateInSpec.arrayAppend('stamps', stamp)
    this.stamps.set(stamp, await this.#attempt(collection.mutateIn(journal, [append])))
  }

  async #attempt(write) {
    try {
      await write
      return 'applied'
    } catch (error) {
      return outcome_of(error, this.surprises)
    }
  }

  // `found`: the stamps of each journal that exists. Returns a summary, or throws it if a write was
  // lost, duplicated or applied after a refusal.
  audit(found) {
    const counts = new Map()
    for (const stamp of [...found.values()].flat()) {
      counts.set(stamp, (counts.get(stamp) ?? 0) + 1)
    }
    const outcomes = { applied: 0, unknown: 0, refused: 0 }
    const faults = { lost: 0, duplicated: 0, 'applied despite a refusal': 0, unexplained: 0 }
    const judge = (outcome, count) => {
      ++outcomes[outcome]
      faults.lost += outcome === 'applied' && count === 0
      faults.duplicated += count > 1
      faults['applied despite a refusal'] += outcome === 'refused' && count > 0
    }
    this.stamps.forEach((outcome, stamp) => judge(outcome, counts.get(stamp) ?? 0))
    this.journals.forEach((outcome, journal) => judge(outcome, found.has(journal) ? 1 : 0))
    faults.unexplained = [...counts.keys()].filter((stamp) => !this.stamps.has(stamp)).length
    const writes = this.stamps.size + this.journals.size
    const list = (numbers) => Object.entries(numbers).map(([what, count]) => `${count} ${what}`)
    const summary = [`${writes} writes`, ...list(outcomes), ...list(faults)].join(', ')
    if (Object.values(faults).some((count) => count > 0) || outcomes.applied === 0) {
      throw new Error(summary)
    }
    if (this.surprises.length > 0) {
      throw new Error(`${summary}: ${this.surprises[0]}`)
    }
    return summary
  }
}

async function write_while(is_running, ledger, collection, prefix) {
  for (let number = 0; is_running(); ++number) {
    const journal = `${prefix}-${number}`
    if (!(await ledger.create(collection, journal))) {
      continue // it may still be created later, so another name is used
    }
    for (let write = 0; write < journal_size && is_running(); ++write) {
      await ledger.append(collection, journal)
    }
  }
}

// Reads the stamps of all journals that exist, and removes these.
async function collect(collection, journals) {
  const found = new Map()
  for (const journal of journals) {
    try {
      found.set(journal, (await collection.get(journal)).content.stamps)
      await collection.remove(journal)
    } catch (error) {
      if (!(error instanceof couchbase.DocumentNotFoundError)) {
        throw error
      }
    }
  }
  return found
}

// Runs writers while `change` changes the cluster, then audits and removes their documents.
export async function run(collection, name, change) {
  const ledger = new Ledger()
  let is_running = true
  const writers = Array.from({ length: writer_count }, (_, number) =>
    write_while(() => is_running, ledger, collection, `node-${name}-${number}`)
  )
  try {
    await change()
  } finally {
    is_running = false
    await Promise.all(writers)
  }
  return ledger.audit(await collect(collection, ledger.journals.keys()))
}

// Broken connections, temporary failures, refusals, late answers, and a node that goes away and
// returns with its data.
export async function disturb(control) {
  for (const fault of [
    ['--close-after', '--every', '200', '--count', '4'],
    ['--close-before', '--every', '170', '--count', '4'],
    ['--status', '0x86', '--every', '40', '--count', '40'],
    ['--status', '0x03', '--every', '90', '--count', '20'], // too large
    ['--delay', '300ms', '--every', '300', '--count', '4'],
  ]) {
    await control('fault', 'add', '--key', 'node-*', '--nth', '50', ...fault)
  }
  await sleep(3000)
  await control('fault', 'clear')
  await control('topology', 'kill', '1')
  await sleep(500)
  await control('topology', 'up', '1')
  await sleep(1500)
}

// A node takes the place of another one, vbucket by vbucket.
export async function rebalance(control) {
  await control('topology', 'add')
  await control('topology', 'rebalance', '--eject', '1', '--interval', '20ms')
  const deadline = Date.now() + rebalance_timeout_ms
  while ((await control('topology', 'status')).rebalance.running) {
    if (Date.now() > deadline) {
      throw new Error('the rebalance does not end')
    }
    await sleep(100)
  }
  await sleep(500)
}
