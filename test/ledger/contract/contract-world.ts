// Shared by the themes of the contract: the functions of any test runner, and an empty ledger for each test.
import type { TaskRecord } from '../../../src/entities/task.ts'
import type { Ledger, NewEvent, NewTask, Op, Purgeable, Reads, Tx } from '../../../src/ledger/ledger.ts'
import { taskRow } from '../factories.ts'

/** The matchers that `expect` of vitest, jest and others share. */
export interface Expectation {
  toBe(expected: unknown): void
  toEqual(expected: unknown): void
  toMatchObject(expected: object): void
  readonly rejects: { toMatchObject(expected: object): Promise<void>; toBe(expected: unknown): Promise<void> }
}

/** The functions of a test runner. */
export interface TestWords {
  describe(title: string, body: () => void): void
  it(title: string, body: () => Promise<void>): void
  expect(actual: unknown): Expectation
}

/** An empty ledger, and how to close it. */
export interface OpenedLedger {
  ledger: Ledger
  /** Closes the ledger and removes its files. */
  close(): Promise<void>
}

/** One theme of the contract: registers its tests. */
export type Theme = (world: ContractWorld) => void

export interface ContractWorld extends TestWords {
  /** A test with an empty ledger of its own. */
  proves(title: string, body: (ledger: Ledger) => Promise<void>): void
}

export function contractWorld(open: () => Promise<OpenedLedger>, words: TestWords): ContractWorld {
  return {
    ...words,
    proves(title, body) {
      words.it(title, async () => {
        const { ledger, close } = await open()
        try {
          await body(ledger)
        } finally {
          await close()
        }
      })
    },
  }
}

/** Writes in a step of its own. */
export function write<R>(ledger: Ledger, work: (tx: Tx) => Op<R>): Promise<R> {
  return ledger.step({ name: 'write', decide: work })
}

/** Inserts tasks of which only the ids are given. */
export function insertTasks(ledger: Ledger, ...ids: string[]): Promise<void> {
  return write(ledger, function* (tx) {
    for (const id of ids) yield* tx.task.insert(taskRow({ id }))
  })
}

export function idsOf(records: ReadonlyArray<{ id: string }>): string[] {
  return records.map(({ id }) => id)
}

/** The ids that a query finds, in its order. */
export async function idsIn(
  ledger: Ledger,
  query: (tx: Reads) => Op<ReadonlyArray<{ id: string }>>,
): Promise<string[]> {
  return idsOf(await ledger.read(query))
}

/** Inserts a task and returns its number. */
export function* inserted(tx: Tx, task: NewTask): Op<number> {
  yield* tx.task.insert(task)
  return ((yield* tx.task.get(task.id)) as TaskRecord).seq
}

/** Appends an event and returns its position. */
export function* appended(tx: Tx, event: NewEvent): Op<number> {
  yield* tx.event.append(event)
  return yield* tx.event.last()
}

/** Begins to purge the families that settled before a time. */
export function* begun(tx: Tx, before: number): Op<Purgeable[]> {
  const families: Purgeable[] = []
  for (const { id } of yield* tx.purge.roots(before, 1_000)) {
    const family = yield* tx.purge.inspect(id, before)
    if (family !== undefined) families.push(family)
  }
  yield* tx.purge.begin(families)
  return families
}

/** All tasks that are being purged, the lower ones first. */
export function* doomed(tx: Reads): Op<string[]> {
  const ids: string[] = []
  for (const root of yield* tx.purge.begun(1_000)) ids.push(root, ...(yield* tx.task.idsBelow(root)))
  return ids.reverse()
}

/** Removes the families that settled before a time; how many families and tasks these were. */
export function purged(ledger: Ledger, before: number): Promise<{ families: number; tasks: number }> {
  return write(ledger, function* (tx) {
    const families = yield* begun(tx, before)
    yield* tx.purge.remove(yield* doomed(tx), 10_000)
    return { families: families.length, tasks: families.reduce((sum, { tasks }) => sum + tasks, 0) }
  })
}
