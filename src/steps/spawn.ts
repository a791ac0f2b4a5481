// Spawning: children and the journal entry that finds them again, in one transaction.
import type { CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { AnyStep, NewCall, Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { type CreateRequest, create } from './create.ts'
import { loadLive, publishDivergence } from './journal.ts'
import { retry } from './verbs.ts'

interface Loaded {
  /** Of an earlier attempt, by the index of their tree; undefined where there is none to keep. */
  kept: Array<TaskRecord | undefined>
  /** The steps that this one is made of, each with what it loaded. */
  parts: Array<{ step: AnyStep; loaded: unknown }>
}

interface Verdict {
  kept: Loaded['kept']
  parts: Array<{ step: AnyStep; decision: unknown }>
}

/**
 * Creates the trees below the running task and records their roots as the entry's result. `earlier` are the roots that an
 * earlier attempt made of the same trees: they stay, but a failed one gets a new attempt too, and a canceled one is made anew.
 * `left`: completed entries that the run has not asked for again.
 */
export function spawn(
  entry: NewCall,
  request: CreateRequest,
  earlier: readonly string[] = [],
  left: readonly CallRecord[] = [],
): Step<Loaded, Verdict, TaskRecord[]> {
  return {
    name: 'spawn',
    *load(tx) {
      yield* loadLive(tx, entry)
      const kept = yield* loadKept(tx, request, earlier)
      const missing = request.trees.filter((_tree, index) => kept[index] === undefined)
      const failed = kept.filter((task) => task?.status === 'failed') as TaskRecord[]
      const parts: Loaded['parts'] = []
      for (const step of [...failed.map((task) => retry(task.id, request)), create({ ...request, trees: missing })]) {
        parts.push({ step, loaded: yield* step.load(tx) })
      }
      return { kept, parts }
    },
    judge: ({ kept, parts }) => ({
      kept,
      parts: parts.map(({ step, loaded }) => ({ step, decision: step.judge(loaded) as unknown })),
    }),
    *write(tx, { kept, parts }): Op<TaskRecord[]> {
      let made: TaskRecord[] = []
      for (const { step, decision } of parts) made = (yield* step.write(tx, decision)) as TaskRecord[]
      const roots = yield* inOrder(tx, kept, made)
      yield* tx.call.insert({ ...entry, status: 'completed', result: roots.map((root) => root.id) })
      if (left.length > 0) {
        const parent = (yield* tx.task.get(entry.taskId)) as TaskRecord
        yield* publishDivergence(tx, parent, entry, left, request)
      }
      return roots
    },
  }
}

function* loadKept(tx: Reads, request: CreateRequest, earlier: readonly string[]): Op<Loaded['kept']> {
  const kept: Loaded['kept'] = []
  for (const [index] of request.trees.entries()) {
    const task = earlier[index] === undefined ? undefined : yield* tx.task.get(earlier[index])
    kept.push(task === undefined || task.deletedAt !== null || task.status === 'canceled' ? undefined : task)
  }
  return kept
}

/** The roots as they are now, each at the place of its tree. */
function* inOrder(tx: Tx, kept: Loaded['kept'], made: readonly TaskRecord[]): Op<TaskRecord[]> {
  const roots: TaskRecord[] = []
  let next = 0
  for (const task of kept) {
    roots.push((task === undefined ? made[next++] : yield* tx.task.get(task.id)) as TaskRecord)
  }
  return roots
}
