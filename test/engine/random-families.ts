// Random families and commands: after every command, it is derived anew, from the rows alone, which tasks cannot move,
// and what that means for the groups around them.
import fc from 'fast-check'
import { ErrandError } from '../../src/core/errors.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { CreateOptions, Engine } from '../../src/engine/engine-api.ts'
import { awaitsChildren, isSettled, type TaskRecord, type TaskStatus } from '../../src/entities/task.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Op, Reads, Tx } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { isBroken, isStuckGroup } from '../../src/machines/family.ts'
import { transition } from '../../src/operations/steps/transition.ts'
import { dependencyVerdict, parentVerdict } from '../machines/verdicts.ts'

const someTask = fc.nat(11)
const taskArbitrary = fc.record({
  after: fc.array(someTask, { maxLength: 2 }),
  onDependencyFailure: fc.constantFrom('block' as const, 'block' as const, 'block' as const, 'cancel' as const),
  awaits: fc.constantFrom(undefined, undefined, true as const, 'all-settled' as const),
})
const verbs = {
  fail: (engine, id) => engine.fail(id, 'broke'),
  complete: (engine, id) => engine.complete(id),
  start: (engine, id) => engine.start(id),
  pause: (engine, id) => engine.pause(id),
  resume: (engine, id) => engine.resume(id),
  cancel: (engine, id) => engine.cancel(id),
  retry: (engine, id) => engine.retry(id),
  delete: (engine, id) => engine.delete(id),
  'delete with all below': (engine, id) => engine.delete(id, { children: 'cascade' }),
  ignore: (engine, id) => engine.update(id, { onDependencyFailure: 'ignore' }),
} satisfies Record<string, (engine: Engine, id: string) => Promise<unknown>>
type Verb = keyof typeof verbs
const often: Verb[] = ['fail', 'fail', 'fail', 'complete', 'complete', 'start', 'retry', 'retry']

const commandArbitrary = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('create' as const), below: fc.option(someTask), task: taskArbitrary }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('group' as const),
      below: fc.option(someTask),
      task: taskArbitrary,
      inner: fc.array(taskArbitrary, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('own work is done' as const), of: someTask }) },
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constantFrom(...often, ...(Object.keys(verbs) as Verb[])), of: someTask }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('block' as const, 'unblock' as const), of: someTask, by: someTask }),
  },
)
type Command = typeof commandArbitrary extends fc.Arbitrary<infer C> ? C : never

class World {
  readonly #engine: Engine
  readonly #ledger: Ledger
  #ids: string[] = []
  #published = new Map<string, TaskStatus>()
  #cursor = 0

  private constructor(engine: Engine, ledger: Ledger) {
    this.#engine = engine
    this.#ledger = ledger
  }

  static async open(spoil: (tx: Tx) => Tx): Promise<World> {
    const ledger = spoiled(await openLedger(':memory:'), spoil)
    return new World(await createEngine({ ledger, work: false }), ledger)
  }

  close(): Promise<void> {
    return this.#engine.close()
  }

  /** A family of its own, from its first command to its last. */
  async play(commands: readonly Command[]): Promise<void> {
    this.#ids = []
    this.#published = new Map()
    for (const command of commands) {
      if (this.#ids.length === 0 && !('task' in command)) continue
      try {
        await this.#obey(command)
      } catch (error) {
        if (!ErrandError.isInstance(error) || error.code === 'LEDGER_WRITE_FAILED') throw error
      }
      const complaints = await this.#ledger.read((tx) => this.#inspect(tx))
      if (complaints.length > 0) throw new Error(`${complaints.join('\n')}\nafter ${JSON.stringify(command)}`)
    }
  }

  #id(index: number): string {
    return this.#ids[index % this.#ids.length] as string
  }

  async #obey(command: Command): Promise<unknown> {
    if ('task' in command) return this.#create(command)
    const id = this.#id(command.of)
    if (command.do === 'own work is done') return this.#endOwnWork(id)
    if ('by' in command) {
      return this.#engine[command.do](id, [this.#id(command.by)])
    }
    const row = (await this.#ledger.read((tx) => tx.task.get(id))) as TaskRecord
    if (row.status === 'submitted' && (command.do === 'fail' || command.do === 'complete')) await this.#engine.start(id)
    return verbs[command.do](this.#engine, id)
  }

  async #create(command: Extract<Command, { task: unknown }>): Promise<void> {
    const known = this.#ids.length > 0
    const parentId = known && command.below !== null ? this.#id(command.below) : undefined
    const after = (task: typeof command.task) => (known ? task.after.map((index) => this.#id(index)) : [])
    const optionsOf = ({ onDependencyFailure, awaits }: typeof command.task) => ({
      onDependencyFailure,
      ...(awaits === undefined ? {} : { autoComplete: awaits }),
    })
    const { onDependencyFailure } = command.task
    const tasks =
      command.do === 'group'
        ? {
            tasks: Object.fromEntries(
              command.inner.map((task, index) => [
                `t${index}`,
                { ...optionsOf(task), after: index > 0 && task.after.length > 0 ? ['t0'] : [] },
              ]),
            ),
          }
        : optionsOf(command.task)
    await this.#engine.create({
      name: command.do,
      onDependencyFailure,
      blockedBy: after(command.task),
      ...tasks,
      ...(parentId === undefined ? {} : { parentId }),
    } as CreateOptions)
  }

  /** As a run that has returned leaves the task. */
  async #endOwnWork(id: string): Promise<void> {
    const ctx = { at: Date.now(), instanceId: 'unknown' }
    await this.#ledger.step({
      name: 'own work is done',
      *decide(tx) {
        const task = (yield* tx.task.get(id)) as TaskRecord
        const facts = yield* tx.task.childFacts(id)
        if (task.status !== 'working' || task.group || !task.policy.autoComplete || !facts.any) return
        yield* transition(tx, task, 'wait', ctx, { set: { statusReason: 'children' } })
      },
    })
  }

  *#inspect(tx: Reads): Op<string[]> {
    const complaints: string[] = []
    const events = yield* tx.event.after(this.#cursor, 100_000)
    this.#cursor = events.at(-1)?.seq ?? this.#cursor
    const failed = new Set<string>()
    for (const { taskId, type, data } of events) {
      if (type === 'task.created') this.#ids.push(taskId)
      if (type === 'task.failed') failed.add(taskId)
      if (type === 'task.retried' && failed.has(taskId))
        complaints.push(`${taskId} failed, and was opened again at once`)
      this.#published.set(taskId, data.status as TaskStatus)
    }
    const family = yield* loadFamily(tx, this.#ids)
    const stuck = stuckIn(family)
    const canMove = ({ id }: TaskRecord): boolean => !stuck.has(id) || family.below(id).some(canMove)
    for (const row of family.rows.values()) {
      const complain = (law: boolean, complaint: string): unknown => law || complaints.push(`${row.id} ${complaint}`)
      const published = this.#published.get(row.id)
      complain(published === row.status, `is ${row.status}, and its events say ${published}`)
      if (row.deletedAt !== null) continue
      const facts = yield* tx.task.childFacts(row.id)
      if (row.group || row.policy.autoComplete) complain(parentVerdict(row, facts) === null, 'outlives its children')
      if (isStuckGroup(row)) {
        const free = family.below(row.id).find(canMove)
        complain(free === undefined, `has failed as stuck, and ${free?.id} can move`)
      }
      if (isSettled(row.status)) continue
      const below = family.below(row.id)
      complain(!row.group || below.length === 0 || below.some(canMove), 'goes on, and nothing in it can move')
      if (!row.group) complain((row.stuckBy !== null) === stuck.has(row.id), `is stuck behind ${row.stuckBy}`)
      for (const above of family.above(row)) complain(above.status !== 'canceled', `lives below ${above.id}`)
      for (const blocker of family.blockers(row.id)) {
        complain(dependencyVerdict(row, blocker) === null, `was not notified of the end of ${blocker.id}`)
      }
    }
    return complaints
  }
}

interface Family {
  rows: ReadonlyMap<string, TaskRecord>
  blockers(id: string): TaskRecord[]
  /** Open children. */
  below(id: string): TaskRecord[]
  above(row: TaskRecord): TaskRecord[]
}

function* loadFamily(tx: Reads, ids: readonly string[]): Op<Family> {
  const rows = new Map<string, TaskRecord>()
  const blockers = new Map<string, string[]>()
  for (const id of ids) {
    rows.set(id, (yield* tx.task.get(id)) as TaskRecord)
    blockers.set(id, yield* tx.dependency.openBlockers(id))
  }
  const above = ({ parentId }: TaskRecord): TaskRecord[] => {
    const parent = rows.get(parentId as string)
    return parent === undefined ? [] : [parent, ...above(parent)]
  }
  return {
    rows,
    blockers: (id) => (blockers.get(id) ?? []).map((blocker) => rows.get(blocker) as TaskRecord),
    below: (id) => [...rows.values()].filter((row) => row.parentId === id && isOpen(row)),
    above,
  }
}

const isOpen = ({ status, deletedAt }: TaskRecord): boolean => !isSettled(status) && deletedAt === null

/** The tasks that wait for failed or stuck ones, or for children of which none can move: the smallest such set. */
function stuckIn(family: Family): Set<string> {
  const stuck = new Set<string>()
  const canMove = ({ id }: TaskRecord): boolean => !stuck.has(id) || family.below(id).some(canMove)
  for (let known = -1; known < stuck.size; ) {
    known = stuck.size
    for (const row of family.rows.values()) {
      if (!isOpen(row) || row.group) continue
      const isBehind = family.blockers(row.id).some(({ id, status }) => isBroken(status) || stuck.has(id))
      if (isBehind || (awaitsChildren(row) && !family.below(row.id).some(canMove))) stuck.add(row.id)
    }
  }
  return stuck
}

function spoiled(inner: Ledger, spoil: (tx: Tx) => Tx): Ledger {
  const step: Ledger['step'] = (given) => inner.step({ ...given, decide: (tx) => given.decide(spoil(tx)) })
  return delegateLedger(inner, { step })
}

/** The complaints about families of one ledger. */
export async function check(runs: number, spoil: (tx: Tx) => Tx = (tx) => tx) {
  const world = await World.open(spoil)
  const families = fc.array(commandArbitrary, { minLength: 8, maxLength: 24, size: 'max' })
  const laws = fc.asyncProperty(families, (commands) => world.play(commands))
  const found = await fc.check(laws, { numRuns: runs, endOnFailure: true, seed: 7 })
  await world.close()
  return found
}
