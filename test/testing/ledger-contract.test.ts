// The contract must be able to fail: ledgers with a planted fault, each of which it has to find, and a sound one that passes.

import { describe, expect, it } from 'vitest'
import { delegateLedger } from '../../src/testing/delegate-ledger.ts'
import type { Ledger, Op, Reads, Step, Tx } from '../../src/testing/index.ts'
import { ledgerContract, openLedger } from '../../src/testing/index.ts'

type Spoil = (ledger: Ledger) => Partial<Ledger>

/** Runs one part of the contract, or all of it, outside of any runner, up to the first test that fails; its title, or null. */
async function firstFailure(spoil: Spoil, part?: string): Promise<string | null> {
  const tests: Array<{ part: string; title: string; body: () => Promise<void> }> = []
  const parts: string[] = []
  ledgerContract(
    'a spoiled ledger',
    async () => {
      const ledger = await openLedger(':memory:')
      return { ledger: delegateLedger(ledger, spoil(ledger)), close: () => ledger.close() }
    },
    {
      describe(title, body) {
        parts.push(title)
        body()
        parts.pop()
      },
      // The long ones prove nothing here that a short one does not.
      it: (title, body) =>
        void (/megabyte|thousand/.test(title) || tests.push({ part: parts[1] as string, title, body })),
      expect,
    },
  )
  expect(tests.length).toBeGreaterThan(120)
  for (const { title, body } of tests.filter((each) => part === undefined || each.part === part)) {
    try {
      await body()
    } catch {
      return title
    }
  }
  return null
}

/** Reads through tables of which one verb is another. */
const reading =
  <T extends keyof Reads>(table: T, verbs: (tx: Reads) => Partial<Reads[T]>) =>
  (ledger: Ledger): Partial<Ledger> => ({
    read: (query) => ledger.read((tx) => query({ ...tx, [table]: { ...tx[table], ...verbs(tx) } })),
  })

/** Writes through tables of which one verb is another. */
const writingThrough =
  <T extends keyof Tx>(table: T, verbs: (tx: Tx) => Partial<Tx[T]>) =>
  (ledger: Ledger): Partial<Ledger> => ({
    step: (step) =>
      ledger.step({
        name: step.name,
        decide: (tx) => step.decide({ ...tx, [table]: { ...tx[table], ...verbs(tx) } }),
      }),
  })

function* nothing(): Op<void> {}

const canceled = ({ at, reason }: { at: number; reason: string | null }) =>
  ({ status: 'canceled', statusReason: reason, completedAt: at, updatedAt: at }) as const

/** By the part of the contract that has to find them. */
const faults: Record<string, Record<string, Spoil>> = {
  closing: {
    'writes before it judges': (ledger) => ({
      async step<R>(step: Step<R>): Promise<R> {
        // The classic: judged on what was read outside of the transaction.
        const tasks = await ledger.read((tx) => tx.task.list({}, 1_000))
        // oxlint-disable-next-line require-yield
        const get = function* (id: string) {
          return tasks.find((task) => task.id === id)
        }
        return ledger.step({ name: step.name, decide: (tx) => step.decide({ ...tx, task: { ...tx.task, get } }) })
      },
    }),
  },
  'a step': {
    'answers before the step is done': (ledger) => ({
      step: (async (step: Step) => {
        void ledger.step(step).catch(() => undefined)
      }) as unknown as Ledger['step'],
    }),
  },
  'an observer': {
    'tells nobody of its commits': () => ({ observe: () => () => undefined }),
    'never stops telling': (ledger) => ({
      observe: (observer, options) => {
        ledger.observe(observer, options)
        return () => undefined
      },
    }),
  },
  'an instance': {
    'takes everybody for alive': () => ({ isAlive: async () => 'alive' }),
    'buries an instance for ever': writingThrough('instance', (tx) => ({
      *renew(id, leaseUntil) {
        return (yield* tx.instance.get(id))?.endedAt === null && (yield* tx.instance.renew(id, leaseUntil))
      },
    })),
    'does not renew the lease of an instance': writingThrough('instance', () => ({
      *renew() {
        return true
      },
    })),
    'forgets nobody': writingThrough('instance', () => ({
      *forget() {
        return 0
      },
    })),
  },
  'ready tasks': {
    'forgets the order of age': reading('task', (tx) => ({
      *ready(executor, lane, limit) {
        return (yield* tx.task.ready(executor, lane, limit)).sort((a, b) => b.priority - a.priority || b.seq - a.seq)
      },
    })),
  },
  'the feed': {
    'orders events by their clocks': reading('event', (tx) => ({
      *after(seq, limit, taskId) {
        return (yield* tx.event.after(seq, limit, taskId)).sort((a, b) => a.at - b.at)
      },
    })),
  },
  'a filter': {
    'counts one too many': reading('task', (tx) => ({
      *count(filter) {
        return (yield* tx.task.count(filter)) + 1
      },
    })),
  },
  saving: {
    'loses a save': writingThrough('task', () => ({ save: nothing })),
    'loses progress': writingThrough('task', () => ({ saveProgress: nothing })),
  },
  'steps that arrive together': {
    'loses events': writingThrough('event', () => ({ append: nothing })),
  },
  dependencies: {
    'leaves waits open': writingThrough('dependency', () => ({ satisfyWaits: nothing })),
  },
  'a row comes back as it was written:': {
    'numbers messages from 0': writingThrough('message', (tx) => ({
      *append(message) {
        return (yield* tx.message.append(message)) - 1
      },
    })),
  },
  'a cascade': {
    'cancels nothing below a task': writingThrough('cascade', () => ({
      *cancel() {
        return undefined
      },
    })),
    'cancels the children and forgets theirs': writingThrough('cascade', (tx) => ({
      *cancel(order) {
        const children = yield* tx.task.children(order.root)
        for (const child of children)
          if (child.completedAt === null) yield* tx.task.save({ ...child, ...canceled(order) })
        return yield* tx.cascade.cancel({ ...order, root: 'nobody' })
      },
    })),
    'leaves the lease of what it canceled': writingThrough('cascade', (tx) => ({
      *cancel(order) {
        const found = yield* tx.cascade.cancel(order)
        for (const { taskId } of found ? yield* tx.event.after(found.first - 1, 99) : []) {
          const task = yield* tx.task.get(taskId)
          if (task) yield* tx.task.save({ ...task, leaseUntil: 1 })
        }
        return found
      },
    })),
    'counts a cascade from the event before it': writingThrough('cascade', (tx) => ({
      *cancel(order) {
        const found = yield* tx.cascade.cancel(order)
        return found && { ...found, first: found.first - 1 }
      },
    })),
    'hides the root as well': writingThrough('cascade', (tx) => ({
      *hide(order) {
        const found = yield* tx.cascade.hide(order)
        const root = yield* tx.task.get(order.root)
        if (root) yield* tx.task.saveDefinition({ ...root, deletedAt: order.at })
        return found
      },
    })),
    'hides without a word': writingThrough('cascade', (tx) => ({
      *hide({ root, at }) {
        const below = yield* tx.task.subtree(root)
        for (const task of below) yield* tx.task.saveDefinition({ ...task, deletedAt: at })
        return undefined
      },
    })),
    'takes every run for closed': writingThrough('cascade', (tx) => ({
      *openEntries(of) {
        return (yield* tx.cascade.openEntries(of)).map(({ call }) => ({ call, runOpen: false }))
      },
    })),
    'forgets the waits that lead out of a cascade': writingThrough('cascade', (tx) => ({
      *edgesOut(of) {
        return (yield* tx.cascade.edgesOut(of)).filter((edge) => edge.kind === 'after')
      },
    })),
  },
  'a purge': {
    'purges what is not old enough': writingThrough('cascade', (tx) => ({
      purge: (before, limit, after) => tx.cascade.purge(before + 1, limit, after),
    })),
    'purges without an end': writingThrough('cascade', (tx) => ({
      purge: (before, _limit, after) => tx.cascade.purge(before, 1_000, after),
    })),
    'begins each purge anew': writingThrough('cascade', (tx) => ({
      purge: (before, limit) => tx.cascade.purge(before, limit),
    })),
  },
  'what may be claimed': {
    'gives tasks to any role': reading('task', (tx) => ({
      *claimable(claim) {
        const others = yield* tx.task.claimable({ ...claim, role: 'critic' })
        return others ?? (yield* tx.task.claimable(claim))
      },
    })),
    'asks for one tag of several': reading('task', (tx) => ({
      claimable: (claim) => tx.task.claimable({ ...claim, tags: claim.tags?.slice(0, 1) }),
    })),
    'takes a lease for over before it is': reading('task', (tx) => ({
      lapsed: (now, limit) => tx.task.lapsed(now + 1, limit),
    })),
    'wakes up for timers only': reading('task', (tx) => ({
      *nextDue() {
        return (yield* tx.task.due(Number.MAX_SAFE_INTEGER, 1))[0]?.notBefore ?? undefined
      },
    })),
    'counts only what is ready for a slot': reading('task', (tx) => ({
      *countQueued() {
        return { ready: (yield* tx.task.countQueued()).ready, claimable: 0 }
      },
    })),
  },
  'a deadline': {
    'takes a deadline for over before it is': reading('task', (tx) => ({
      late: (now, limit) => tx.task.late(now + 1, limit),
    })),
  },
  lanes: {
    'sees no lanes': reading('task', () => ({
      *lanes() {
        return []
      },
    })),
    'takes lanes by their names': reading('task', (tx) => ({
      *lanes(executor) {
        return (yield* tx.task.lanes(executor)).sort()
      },
    })),
    'counts the runs of a lane that still work': reading('task', (tx) => ({
      *openInLane(lane) {
        return (yield* tx.task.openInLane(lane)) && 1
      },
    })),
    'leaves lanes as they are': writingThrough('task', () => ({ setLanes: nothing })),
  },
  'numbers of a tree': {
    'counts children once': writingThrough('task', (tx) => ({
      *addChildren(id, added) {
        if ((yield* tx.task.get(id))?.childCount === 0) yield* tx.task.addChildren(id, added)
      },
    })),
    'counts what models created once': writingThrough('task', (tx) => ({
      *addMade(id, made) {
        if ((yield* tx.task.get(id))?.madeBelow === 0) yield* tx.task.addMade(id, made)
      },
    })),
    'raises the children and forgets theirs': writingThrough('task', (tx) => ({
      *raise(id, by) {
        const children = yield* tx.task.children(id)
        for (const child of children) yield* tx.task.saveDefinition({ ...child, depth: child.depth - by })
      },
    })),
  },
  counts: {
    'counts the deleted': reading('task', (tx) => ({
      *countByStatus() {
        const counts = yield* tx.task.countByStatus()
        return { ...counts, completed: counts.completed + 1 }
      },
    })),
    'counts the runs of one engine': reading('run', (tx) => ({
      *countOpen() {
        const counts = new Map<string, number>()
        const runs = yield* tx.run.openOf('engine-1')
        for (const { taskId } of runs) {
          const executor = (yield* tx.task.get(taskId))?.executor as string
          counts.set(executor, (counts.get(executor) ?? 0) + 1)
        }
        return counts
      },
    })),
  },
  'a setting': {
    'keeps the first setting': writingThrough('setting', (tx) => ({
      *put(name, value) {
        if ((yield* tx.setting.get(name)) === undefined) yield* tx.setting.put(name, value)
      },
    })),
    'takes a setting that is null for none': reading('setting', (tx) => ({
      *get(name) {
        return (yield* tx.setting.get(name)) ?? undefined
      },
    })),
  },
  'a path': {
    'looks for one target only': reading('dependency', (tx) => ({
      path: (from, targets) => tx.dependency.path(from, new Set([...targets].slice(0, 1))),
    })),
  },
  branches: {
    'forgets main in the way up': reading('branch', (tx) => ({
      *lineage(name) {
        return (yield* tx.branch.lineage(name)).filter((branch) => branch.parent !== null)
      },
    })),
  },
  observations: {
    'keeps an observation that was taken up pending': writingThrough('observation', () => ({ consume: nothing })),
    'takes errors for something to remember': reading('observation', (tx) => ({
      *pending(branch, session, limit) {
        const errors = yield* tx.observation.list({ branch, types: ['error'] }, limit, Number.MAX_SAFE_INTEGER)
        return [...(yield* tx.observation.pending(branch, session, limit)), ...errors]
      },
    })),
    'says that it wrote what was there': writingThrough('observation', (tx) => ({
      *insert(observation) {
        yield* tx.observation.insert(observation)
        return true
      },
    })),
  },
  facts: {
    'forgets a successor': writingThrough('fact', (tx) => ({
      *save(fact) {
        yield* tx.fact.save({ ...fact, status: 'active', successorId: null })
      },
    })),
    'lists the facts of one branch after the other': reading('fact', (tx) => ({
      *list(filter, limit, before) {
        const found = yield* tx.fact.list(filter, limit, before)
        return found.sort((a, b) => a.branch.localeCompare(b.branch))
      },
    })),
    'takes a summary for a fact': reading('fact', (tx) => ({
      *countActive(branches) {
        const counts = new Map<string, number>()
        for (const branch of branches) {
          const all = yield* tx.fact.list({ branches: [branch], status: 'active' }, 99, Number.MAX_SAFE_INTEGER)
          counts.set(branch, all.length)
        }
        return counts
      },
    })),
    'finds ids that hold what they should begin with': reading('fact', (tx) => ({
      *findByPrefix(prefix, limit) {
        const all = yield* tx.fact.findByPrefix('', 99)
        return all.filter(({ id }) => id.includes(prefix)).slice(0, limit)
      },
    })),
  },
  'what facts are found by': {
    'still finds a superseded fact by its words': reading('fact', (tx) => ({
      *search(branches, words, limit) {
        const old = yield* tx.fact.list({ branches, status: 'superseded' }, limit, Number.MAX_SAFE_INTEGER)
        const found = yield* tx.fact.search(branches, words, limit)
        return [...found, ...old.map((fact) => ({ fact, rank: 0 }))]
      },
    })),
    'still takes a superseded fact for a candidate': reading('fact', (tx) => ({
      *candidates(branch, words, threshold) {
        const old = yield* tx.fact.list({ branches: [branch], status: 'superseded' }, 9, Number.MAX_SAFE_INTEGER)
        return [...old, ...(yield* tx.fact.candidates(branch, words, threshold))]
      },
    })),
    'misses one that is alike': reading('fact', (tx) => ({
      *candidates(branch, words, threshold) {
        return (yield* tx.fact.candidates(branch, words, threshold)).slice(0, 1)
      },
    })),
    'ranks the latest first': reading('fact', (tx) => ({
      *search(branches, words, limit) {
        return (yield* tx.fact.search(branches, words, limit)).sort((a, b) => b.fact.seq - a.fact.seq)
      },
    })),
    'searches every branch': reading('fact', (tx) => ({
      search: (branches, words, limit) => tx.fact.search([...branches, 'third'], words, limit),
    })),
    'never carries a fact again': reading('fact', (tx) => ({
      *unmerged(branch, after, limit) {
        return (yield* tx.fact.unmerged(branch, after, limit)).filter((fact) => fact.mergedTo === null)
      },
    })),
    'keeps the first vector': writingThrough('fact', (tx) => ({
      *keepVector(id, model, vector) {
        const fact = yield* tx.fact.get(id)
        const kept = yield* tx.fact.vectors(fact?.branch ?? '', model)
        if (!kept.some(({ factId }) => factId === id)) yield* tx.fact.keepVector(id, model, vector)
      },
    })),
  },
  'the record of memory': {
    'forgets runs that ended in a branch': reading('consolidation', (tx) => ({
      *list({ branch, ...filter }, limit, before) {
        const found = yield* tx.consolidation.list(filter, limit, before)
        return found.filter((run) => branch === undefined || run.sourceBranch === branch)
      },
    })),
    'knows of two facts only the one that was decided about': reading('consolidation', () => ({
      *decisionsNaming() {
        return []
      },
    })),
    'tells decisions in the order of their facts': reading('consolidation', (tx) => ({
      *decisions(run, limit, after) {
        return (yield* tx.consolidation.decisions(run, limit, after)).sort((a, b) => a.factId.localeCompare(b.factId))
      },
    })),
  },
  'a team': {
    'lists the deleted': reading('team', (tx) => ({
      *list(filter, limit, offset) {
        const found = yield* tx.team.list(filter, limit, offset)
        const team = yield* tx.team.get('gone')
        const task = yield* tx.task.get('gone')
        return team && task ? [...found, { team, task }] : found
      },
    })),
    'closes what has failed': reading('team', (tx) => ({
      *unclosed(limit, after) {
        const failed = yield* tx.task.get('failed')
        const found = yield* tx.team.unclosed(limit, after)
        return failed ? [...found, { taskId: 'failed', seq: failed.seq }] : found
      },
    })),
    'counts the time of what never ended': reading('team', (tx) => ({
      *countByType() {
        return (yield* tx.team.countByType()).map((count) => ({
          ...count,
          completedMs: count.completedMs + count.failed,
        }))
      },
    })),
    'loses what was said of an objective': writingThrough('team', () => ({ saveObjective: nothing })),
  },
  'a stint': {
    'forgets the first stint of an agent that comes back': reading('team', (tx) => ({
      *stints(taskId) {
        const all = yield* tx.team.stints(taskId)
        return all.filter(
          (stint) => !all.some((other) => other.agentId === stint.agentId && other.number > stint.number),
        )
      },
    })),
    'takes a worker that works for one that has left': reading('team', (tx) => ({
      *abandoned(limit) {
        return (yield* tx.team.stints('a')).filter((stint) => stint.workerId !== null).slice(0, limit)
      },
    })),
  },
  'a purge of a team task': {
    'finds nothing more that was learned': reading('fact', () => ({
      *search() {
        return []
      },
    })),
  },
  'the tables refuse': {
    'revives the dead': writingThrough('task', (tx) => ({
      *save(task) {
        const stored = yield* tx.task.get(task.id)
        if (stored?.status === 'completed') return
        yield* tx.task.save(task)
      },
    })),
  },
}

const planted = Object.entries(faults).flatMap(([part, spoils]) =>
  Object.entries(spoils).map(([title, spoil]): [string, string, Spoil] => [title, part, spoil]),
)

describe('the contract finds a ledger that', () => {
  it.each(planted)('%s', { timeout: 60_000 }, async (_title, part, spoil) => {
    expect(await firstFailure(spoil, part)).not.toBe(null)
  })

  it('has no fault: nothing is found in a sound one', { timeout: 60_000 }, async () => {
    expect(await firstFailure(() => ({}))).toBe(null)
  })
})
