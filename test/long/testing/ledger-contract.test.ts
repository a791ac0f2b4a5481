// The contract must be able to fail: it has to find the planted fault of each of these ledgers, and a sound ledger passes.

import { describe, expect, it } from 'vitest'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Ledger, Op, Reads, Step, Tx } from '../../../src/testing/index.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { ledgerContract } from '../../ledger/contract/ledger-contract.ts'

type Fault = (ledger: Ledger) => Partial<Ledger>

/** Runs one part of the contract, or all of it, outside of any runner, up to the first test that fails; its title, or null. */
async function firstFailure(fault: Fault, part?: string): Promise<string | null> {
  const tests: Array<{ part: string; title: string; body: () => Promise<void> }> = []
  const parts: string[] = []
  ledgerContract(
    'a faulty ledger',
    async () => {
      const ledger = await openLedger(':memory:')
      return { ledger: delegateLedger(ledger, fault(ledger)), close: () => ledger.close() }
    },
    {
      describe(title, body) {
        parts.push(title)
        body()
        parts.pop()
      },
      // Long tests are omitted, because short ones find these faults.
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

/** Replaces methods of a table for reads. */
const reading =
  <T extends keyof Reads>(table: T, methods: (tx: Reads) => Partial<Reads[T]>) =>
  (ledger: Ledger): Partial<Ledger> => ({
    read: (query) => ledger.read((tx) => query({ ...tx, [table]: { ...tx[table], ...methods(tx) } })),
  })

/** Replaces methods of a table for steps. */
const writingThrough =
  <T extends keyof Tx>(table: T, methods: (tx: Tx) => Partial<Tx[T]>) =>
  (ledger: Ledger): Partial<Ledger> => ({
    step: (step) =>
      ledger.step({
        ...step,
        decide: (tx) => step.decide({ ...tx, [table]: { ...tx[table], ...methods(tx) } }),
      }),
  })

function* nothing(): Op<void> {}

const canceled = ({ at, reason }: { at: number; reason: string | null }) =>
  ({ status: 'canceled', statusReason: reason, completedAt: at, updatedAt: at }) as const

/** By the part of the contract that has to find them. */
const faults: Record<string, Record<string, Fault>> = {
  closing: {
    'decides on rows that were read outside of the transaction': (ledger) => ({
      async step<R>(step: Step<R>): Promise<R> {
        const tasks = await ledger.read((tx) => tx.task.list({}, 1_000))
        const get = function* (id: string) {
          return tasks.find((task) => task.id === id)
        }
        return ledger.step({ ...step, decide: (tx) => step.decide({ ...tx, task: { ...tx.task, get } }) })
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
    'does not notify observers of commits': () => ({ observe: () => () => undefined }),
    'notifies observers that have unsubscribed': (ledger) => ({
      observe: (observer, options) => {
        ledger.observe(observer, options)
        return () => undefined
      },
    }),
  },
  'an instance': {
    'reports every instance as alive': () => ({ isAlive: async () => 'alive' }),
    'does not renew an instance that was ended': writingThrough('instance', (tx) => ({
      *renew(instance) {
        if ((yield* tx.instance.get(instance.id))?.endedAt === null) yield* tx.instance.renew(instance)
      },
    })),
    'does not renew the lease of an instance': writingThrough('instance', () => ({
      *renew() {},
    })),
    'does not forget instances': writingThrough('instance', () => ({
      *forget() {
        return 0
      },
    })),
  },
  'ready tasks': {
    'ignores age in the order of ready tasks': reading('task', (tx) => ({
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
    'counts one task too many': reading('task', (tx) => ({
      *count(filter) {
        return (yield* tx.task.count(filter)) + 1
      },
    })),
  },
  saving: {
    'does not store a saved task': writingThrough('task', () => ({ save: nothing })),
    'does not store progress': writingThrough('task', () => ({ saveProgress: nothing })),
  },
  'steps that arrive together': {
    'does not store events': writingThrough('event', () => ({ append: nothing })),
  },
  dependencies: {
    'does not satisfy waits': writingThrough('dependency', () => ({ satisfyWaits: nothing })),
  },
  rows: {
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
    'cancels children but not their children': writingThrough('cascade', (tx) => ({
      *cancel(order) {
        const children = yield* tx.task.children(order.root)
        for (const child of children)
          if (child.completedAt === null) yield* tx.task.save({ ...child, ...canceled(order) })
        return yield* tx.cascade.cancel({ ...order, root: 'missing' })
      },
    })),
    'keeps the lease of canceled tasks': writingThrough('cascade', (tx) => ({
      *cancel(order) {
        const found = yield* tx.cascade.cancel(order)
        for (const { taskId } of found ? yield* tx.event.after(found.first - 1, 99) : []) {
          const task = yield* tx.task.get(taskId)
          if (task) yield* tx.task.save({ ...task, leaseUntil: 1 })
        }
        return found
      },
    })),
    'returns the event before a cascade as its first': writingThrough('cascade', (tx) => ({
      *cancel(order) {
        const found = yield* tx.cascade.cancel(order)
        return found && { ...found, first: found.first - 1 }
      },
    })),
    'also hides the root of a cascade': writingThrough('cascade', (tx) => ({
      *hide(order) {
        const found = yield* tx.cascade.hide(order)
        const root = yield* tx.task.get(order.root)
        if (root) yield* tx.task.saveDefinition({ ...root, deletedAt: order.at })
        return found
      },
    })),
    'hides tasks without events': writingThrough('cascade', (tx) => ({
      *hide({ root, at }) {
        const below = yield* tx.task.subtree(root)
        for (const task of below) yield* tx.task.saveDefinition({ ...task, deletedAt: at })
        return undefined
      },
    })),
    'reports every run as closed': writingThrough('cascade', (tx) => ({
      *openEntries(of) {
        return (yield* tx.cascade.openEntries(of)).map(({ call }) => ({ call, runOpen: false }))
      },
    })),
    'omits the waits that lead out of a cascade': writingThrough('cascade', (tx) => ({
      *edgesOut(of) {
        return (yield* tx.cascade.edgesOut(of)).filter((edge) => edge.kind === 'after')
      },
    })),
  },
  'a purge': {
    'purges tasks that are not old enough': writingThrough('purge', (tx) => ({
      inspect: (root, before) => tx.purge.inspect(root, before + 1),
    })),
    'begins each purge again from the first root': reading('purge', (tx) => ({
      roots: (before, limit) => tx.purge.roots(before, limit),
    })),
    'removes more rows in one step than the limit': writingThrough('purge', (tx) => ({
      remove: (tasks, limit) => tx.purge.remove(tasks, limit + 1),
    })),
    'leaves rows of purged tasks': writingThrough('purge', (tx) => ({
      *remove(tasks, limit) {
        yield* tx.purge.remove(tasks, limit)
        return false
      },
    })),
    'knows only the roots of what is being purged': reading('purge', (tx) => ({
      *includes(task) {
        return (yield* tx.purge.begun(100)).includes(task)
      },
    })),
    'forgets the purged tasks that other tasks now need': reading('purge', () => ({
      *touched() {
        return []
      },
    })),
    'removes no dependency on a purged task': writingThrough('purge', (tx) => ({
      begin: (families) => tx.purge.begin(families.map((family) => ({ ...family, outside: [] }))),
    })),
    'keeps the key of a purged task taken': writingThrough('task', () => ({
      *freeKey() {},
    })),
  },
  'claimable tasks': {
    'offers tasks to other roles': reading('task', (tx) => ({
      *claimable(claim) {
        const others = yield* tx.task.claimable({ ...claim, role: 'critic' })
        return others ?? (yield* tx.task.claimable(claim))
      },
    })),
    'requires one of several tags': reading('task', (tx) => ({
      claimable: (claim) => tx.task.claimable({ ...claim, tags: claim.tags?.slice(0, 1) }),
    })),
    'reports a lease as lapsed before its end': reading('task', (tx) => ({
      lapsed: (now, limit) => tx.task.lapsed(now + 1, limit),
    })),
    'ignores leases and deadlines in the next due time': reading('task', (tx) => ({
      *nextDue() {
        return (yield* tx.task.due(Number.MAX_SAFE_INTEGER, 1))[0]?.notBefore ?? undefined
      },
    })),
    'omits claimable tasks from the length of the queue': reading('task', (tx) => ({
      *countQueued() {
        return { ready: (yield* tx.task.countQueued()).ready, claimable: 0 }
      },
    })),
  },
  'a deadline': {
    'reports a deadline as passed before its time': reading('task', (tx) => ({
      late: (now, limit) => tx.task.late(now + 1, limit),
    })),
  },
  lanes: {
    'returns no lanes': reading('task', () => ({
      *lanes() {
        return []
      },
    })),
    'orders lanes by name': reading('task', (tx) => ({
      *lanes(executor) {
        return (yield* tx.task.lanes(executor)).sort()
      },
    })),
    'counts at most one open run of a lane': reading('task', (tx) => ({
      *openInLane(lane) {
        return (yield* tx.task.openInLane(lane)) && 1
      },
    })),
    'does not change lanes': writingThrough('task', () => ({ setLanes: nothing })),
  },
  'numbers of a tree': {
    'counts only the first children': writingThrough('task', (tx) => ({
      *addChildren(id, added) {
        if ((yield* tx.task.get(id))?.childCount === 0) yield* tx.task.addChildren(id, added)
      },
    })),
    'counts only the first tasks that models created': writingThrough('task', (tx) => ({
      *addMade(id, made) {
        if ((yield* tx.task.get(id))?.madeBelow === 0) yield* tx.task.addMade(id, made)
      },
    })),
    'raises children but not their children': writingThrough('task', (tx) => ({
      *raise(id, by) {
        const children = yield* tx.task.children(id)
        for (const child of children) yield* tx.task.saveDefinition({ ...child, depth: child.depth - by })
      },
    })),
  },
  counts: {
    'counts deleted tasks': reading('task', (tx) => ({
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
    'reads a setting with the value null as missing': reading('setting', (tx) => ({
      *get(name) {
        return (yield* tx.setting.get(name)) ?? undefined
      },
    })),
  },
  'a path': {
    'searches a path to one target only': reading('dependency', (tx) => ({
      path: (from, targets) => tx.dependency.path(from, new Set([...targets].slice(0, 1))),
    })),
  },
  branches: {
    'omits main from the lineage of a branch': reading('branch', (tx) => ({
      *lineage(name) {
        return (yield* tx.branch.lineage(name)).filter((branch) => branch.parent !== null)
      },
    })),
  },
  observations: {
    'keeps a consumed observation pending': writingThrough('observation', () => ({ consume: nothing })),
    'reports errors as pending observations': reading('observation', (tx) => ({
      *pending(branch, session, limit) {
        const errors = yield* tx.observation.list({ branch, types: ['error'] }, limit, Number.MAX_SAFE_INTEGER)
        return [...(yield* tx.observation.pending(branch, session, limit)), ...errors]
      },
    })),
    'reports a repeated observation as new': writingThrough('observation', (tx) => ({
      *insert(observation) {
        yield* tx.observation.insert(observation)
        return true
      },
    })),
  },
  facts: {
    'does not store the successor of a fact': writingThrough('fact', (tx) => ({
      *save(fact) {
        yield* tx.fact.save({ ...fact, status: 'active', successorId: null })
      },
    })),
    'lists facts by branch instead of age': reading('fact', (tx) => ({
      *list(filter, limit, before) {
        const found = yield* tx.fact.list(filter, limit, before)
        return found.sort((a, b) => a.branch.localeCompare(b.branch))
      },
    })),
    'counts a summary as a fact': reading('fact', (tx) => ({
      *countActive(branches) {
        const counts = new Map<string, number>()
        for (const branch of branches) {
          const all = yield* tx.fact.list({ branches: [branch], status: 'active' }, 99, Number.MAX_SAFE_INTEGER)
          counts.set(branch, all.length)
        }
        return counts
      },
    })),
    'finds ids that contain the prefix elsewhere': reading('fact', (tx) => ({
      *findByPrefix(prefix, limit) {
        const all = yield* tx.fact.findByPrefix('', 99)
        return all.filter(({ id }) => id.includes(prefix)).slice(0, limit)
      },
    })),
  },
  'searches of facts': {
    'finds a superseded fact by its words': reading('fact', (tx) => ({
      *search(branches, words, limit) {
        const old = yield* tx.fact.list({ branches, status: 'superseded' }, limit, Number.MAX_SAFE_INTEGER)
        const found = yield* tx.fact.search(branches, words, limit)
        return [...found, ...old.map((fact) => ({ fact, rank: 0 }))]
      },
    })),
    'returns a superseded fact as a candidate': reading('fact', (tx) => ({
      *candidates(branch, words, threshold) {
        const old = yield* tx.fact.list({ branches: [branch], status: 'superseded' }, 9, Number.MAX_SAFE_INTEGER)
        return [...old, ...(yield* tx.fact.candidates(branch, words, threshold))]
      },
    })),
    'misses a similar fact': reading('fact', (tx) => ({
      *candidates(branch, words, threshold) {
        return (yield* tx.fact.candidates(branch, words, threshold)).slice(0, 1)
      },
    })),
    'ranks the latest first': reading('fact', (tx) => ({
      *search(branches, words, limit) {
        return (yield* tx.fact.search(branches, words, limit)).sort((a, b) => b.fact.seq - a.fact.seq)
      },
    })),
    'searches branches that are not given': reading('fact', (tx) => ({
      search: (branches, words, limit) => tx.fact.search([...branches, 'third'], words, limit),
    })),
    'omits a merged fact that has changed': reading('fact', (tx) => ({
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
    'omits consolidations whose target is the branch': reading('consolidation', (tx) => ({
      *list({ branch, ...filter }, limit, before) {
        const found = yield* tx.consolidation.list(filter, limit, before)
        return found.filter((run) => branch === undefined || run.sourceBranch === branch)
      },
    })),
    'finds no decisions that name a fact': reading('consolidation', () => ({
      *decisionsNaming() {
        return []
      },
    })),
    'orders decisions by fact': reading('consolidation', (tx) => ({
      *decisions(run, limit, after) {
        return (yield* tx.consolidation.decisions(run, limit, after)).sort((a, b) => a.factId.localeCompare(b.factId))
      },
    })),
  },
  'a team': {
    'lists deleted teams': reading('team', (tx) => ({
      *list(filter, limit, offset) {
        const found = yield* tx.team.list(filter, limit, offset)
        const team = yield* tx.team.get('gone')
        const task = yield* tx.task.get('gone')
        return team && task ? [...found, { team, task }] : found
      },
    })),
    'reports failed teams as unclosed': reading('team', (tx) => ({
      *unclosed(limit) {
        const failed = yield* tx.task.get('failed')
        const found = yield* tx.team.unclosed(limit)
        return failed ? [...found, { taskId: 'failed', seq: failed.seq }] : found
      },
    })),
    'adds to the duration of completed teams': reading('team', (tx) => ({
      *countByType() {
        return (yield* tx.team.countByType()).map((count) => ({
          ...count,
          completedMs: count.completedMs + count.failed,
        }))
      },
    })),
    'does not store changes of objectives': writingThrough('team', () => ({ saveObjective: nothing })),
  },
  'a stint': {
    'omits the first stint of an agent that returns': reading('team', (tx) => ({
      *stints(taskId) {
        const all = yield* tx.team.stints(taskId)
        return all.filter(
          (stint) => !all.some((other) => other.agentId === stint.agentId && other.number > stint.number),
        )
      },
    })),
    'reports working agents as abandoned': reading('team', (tx) => ({
      *abandoned(limit) {
        return (yield* tx.team.stints('a')).filter((stint) => stint.workerId !== null).slice(0, limit)
      },
    })),
  },
  'a purge of a team task': {
    'finds no facts after a purge': reading('fact', () => ({
      *search() {
        return []
      },
    })),
  },
  'the tables refuse': {
    'ignores writes to completed tasks': writingThrough('task', (tx) => ({
      *save(task) {
        const stored = yield* tx.task.get(task.id)
        if (stored?.status === 'completed') return
        yield* tx.task.save(task)
      },
    })),
  },
}

const planted = Object.entries(faults).flatMap(([part, ofPart]) =>
  Object.entries(ofPart).map(([title, fault]): [string, string, Fault] => [title, part, fault]),
)

describe('the ledger contract', () => {
  it.each(planted)('the ledger contract finds a ledger that %s', async (_title, part, fault) => {
    expect(await firstFailure(fault, part)).not.toBe(null)
  })

  it('the ledger contract finds no fault in a sound ledger', async () => {
    expect(await firstFailure(() => ({}))).toBe(null)
  })
})
