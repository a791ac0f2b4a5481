// Random groups of steps, all submitted at once to a ledger on a server, and one after the other to a SQLite ledger: every step must end in the
// same way, and all rows must be equal. A failure prints its seed; ERRAND_SEED runs it again, ERRAND_RUNS sets the number of groups.
import Database from 'better-sqlite3'
import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import type { TeamHost } from '../../../src/board/board-host.ts'
import { claimNext, claimOnBoard } from '../../../src/board/claim-task.ts'
import { createOnBoard } from '../../../src/board/create-task.ts'
import { numberRemaining } from '../../../src/board/numbering.ts'
import { completeOnBoard, heartbeatOnBoard, releaseOnBoard } from '../../../src/board/owned-task.ts'
import { answerRequest, sendRequest } from '../../../src/board/team/handshakes.ts'
import { readInbox, sendMail } from '../../../src/board/team/mail.ts'
import { updateOnBoard } from '../../../src/board/update-task.ts'
import { libraryCaller } from '../../../src/bus/caller.ts'
import { redactionBy } from '../../../src/core/redact.ts'
import type { TaskRecord } from '../../../src/entities/task.ts'
import { storedFrom } from '../../../src/entities/task-fields.ts'
import type { Ledger, Op, Step, Tx } from '../../../src/ledger/ledger.ts'
import { OneByOne } from '../../../src/ledger/postgres/one-by-one.ts'
import { ServerConnection } from '../../../src/ledger/postgres/server-connection.ts'
import type { MemoryHost } from '../../../src/memory/memory-host.ts'
import { memorySettings } from '../../../src/memory/memory-settings.ts'
import { completeAgent } from '../../../src/memory/team/complete-agent.ts'
import { completeTask } from '../../../src/memory/team/complete-task.ts'
import { joinTeam } from '../../../src/memory/team/join.ts'
import { teamSteps } from '../../../src/memory/team/team-steps.ts'
import type { TaskDraft } from '../../../src/operations/drafts/draft.ts'
import { admit } from '../../../src/operations/steps/admit.ts'
import { claim } from '../../../src/operations/steps/claim.ts'
import { create } from '../../../src/operations/steps/create.ts'
import { deleteTask } from '../../../src/operations/steps/delete.ts'
import { block, unblock } from '../../../src/operations/steps/dependencies.ts'
import {
  appendMessage,
  beginEntry,
  finishEntry,
  reportProgress,
  writeOutput,
} from '../../../src/operations/steps/journal.ts'
import { setSharedLimits } from '../../../src/operations/steps/limits.ts'
import { retry } from '../../../src/operations/steps/retry.ts'
import { send } from '../../../src/operations/steps/send.ts'
import { settleRun } from '../../../src/operations/steps/settle-run.ts'
import { cancel, complete, fail, pause, resume, start } from '../../../src/operations/steps/task-lifecycle.ts'
import { fireTimers } from '../../../src/operations/steps/timers.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { ledgerFile } from '../../engine/world.ts'
import {
  branchRow,
  callRow,
  edgeRow,
  mailRow,
  messageRow,
  observationRow,
  runRow,
  someTime,
  stintRow,
  teamRow,
} from '../../ledger/factories.ts'
import { whole } from '../../operations/steps/whole-row.ts'
import { createDatabase, type TestServer, testServer } from '../../postgres/server.ts'
import { emptied } from '../../postgres/shared-ledger.ts'
import { isFull } from '../full.ts'

const groups = Number(process.env['ERRAND_RUNS'] ?? (isFull ? 600 : 100))
const server = (await testServer()) as TestServer

const ctx = { at: someTime + 10, instanceId: 'engine-1', teams: teamSteps }
const retryPolicy = { maxAttempts: 2, backoffMs: 0, backoff: 'fixed', maxBackoffMs: 0, jitter: 0, on: [] } as const
const instance = { id: 'engine-1', pid: 1, host: 'here', startedAt: someTime, leaseUntil: someTime, endedAt: null }

/** A group with a team and with runs, one of them of its agent; agents that are ready to enter it, a request, dependents, a child of a child, a queue, and a task worked on by hand. */
function* family(tx: Tx): Op<void> {
  yield* tx.instance.insert(instance)
  const running = { executor: 'x', status: 'working' as const, run: 1, runOpen: true }
  const rows = [
    whole({ id: 'group', group: true, status: 'working', childCount: 4 }),
    whole({
      id: 'run-a',
      parentId: 'group',
      depth: 1,
      ...running,
      policy: { team: { taskId: 'group', agentId: 'ada' } },
    }),
    whole({ id: 'run-b', parentId: 'group', depth: 1, ...running, childCount: 1 }),
    whole({ id: 'later', parentId: 'group', depth: 1, openBlockers: 2, executor: 'x' }),
    whole({ id: 'last', parentId: 'group', depth: 1, openBlockers: 1 }),
    whole({ id: 'below', parentId: 'run-b', depth: 2 }),
    whole({ id: 'by-hand', status: 'working' }),
    whole({ id: 'ready-1', executor: 'x', priority: 1, policy: { team: { taskId: 'group', agentId: 'bob' } } }),
    whole({ id: 'ready-2', executor: 'x', policy: { team: { taskId: 'group', agentId: 'eve' } } }),
    whole({ id: 'free' }),
    whole({ id: 'resting', notBefore: someTime }),
    whole({ id: 'leased', status: 'working', owner: 'owner-0', fence: 1, leaseMs: 5, leaseUntil: someTime + 5 }),
  ]
  for (const row of rows) yield* tx.task.insert(row)
  for (const id of ['run-a', 'run-b']) {
    yield* tx.run.insert(runRow({ taskId: id, instanceId: 'engine-1' }))
    yield* tx.call.insert(callRow({ id: `call-${id}`, taskId: id, startMessageId: 'request' }))
  }
  yield* tx.call.insert(callRow({ id: 'sleep', taskId: 'run-a', kind: 'sleep', status: 'pending', dueAt: someTime }))
  const branch = 'task/group'
  const ofAda = { name: `${branch}/ada`, parent: branch, taskId: 'group', agentId: 'ada' }
  yield* tx.branch.insert(branchRow({ name: branch, taskId: 'group' }))
  yield* tx.branch.insert(branchRow(ofAda))
  yield* tx.team.insert(teamRow({ taskId: 'group', branch }))
  yield* tx.team.insertStint(stintRow({ taskId: 'group', agentId: 'ada', branch: ofAda.name, workerId: 'run-a' }))
  yield* tx.mail.insert(mailRow('asked', { kind: 'request', requestId: 'asked', verdict: 'pending' }))
  for (const [taskId, blockerId] of [
    ['later', 'run-a'],
    ['later', 'run-b'],
    ['last', 'later'],
  ] as const) {
    yield* tx.dependency.insert(edgeRow({ taskId, blockerId }))
  }
}

const ids = [
  'group',
  'run-a',
  'run-b',
  'later',
  'last',
  'below',
  'by-hand',
  'ready-1',
  'ready-2',
  'free',
  'resting',
  'leased',
] as const
const runs = ['run-a', 'run-b'] as const

interface Place {
  /** In its group: makes the ids of what the step creates. */
  at: number
  task: string
  other: string
  run: (typeof runs)[number]
  flag: boolean
}

function draft(id: string, more: Partial<TaskDraft>): TaskDraft {
  return {
    ...storedFrom({ name: id }),
    id,
    blockedBy: [],
    group: false,
    held: false,
    policy: {},
    team: null,
    agentId: null,
    agentNamed: false,
    runsCommands: false,
    opening: [],
    ...more,
  } as TaskDraft
}

const treeLimits = { maxDepth: 10, maxChildren: 100 } as never

/** The step by which a board, a team or mail is changed; tasks without a number get one in that of a board. */
function hostStep(at: number, change: (host: TeamHost & MemoryHost) => Promise<unknown>): Promise<Step> {
  const { promise, resolve, reject } = Promise.withResolvers<Step>()
  let ids = 0
  const host = {
    drafter: { draft: ({ key }: { key?: string }) => [draft(`on-board-${at}`, { key: key ?? null })], treeLimits },
    read: async () => false,
    stepContext: async () => ctx,
    nextId: (prefix: string) => `${prefix}-${at}-${++ids}`,
    memory: memorySettings(false),
    redaction: redactionBy(undefined),
    step(given: Step) {
      const before = ids
      // A step that the server makes PostgreSQL try again draws the same ids.
      resolve({
        ...given,
        decide(tx) {
          ids = before
          return given.decide(tx)
        },
      })
      return new Promise(() => {})
    },
  } as never
  change(host).catch(reject)
  return promise
}

/** Ada works for the group already. */
const memberOf = (at: number) => (at % 2 === 0 ? 'joe' : 'ada')
const onBoard = { board: 'main', caller: libraryCaller }
const numbering: Step<void> = { name: 'number tasks', decide: (tx) => numberRemaining(tx, 'main', ctx.at) }
/** A task of the family by its number on the board, which is that of its age, or by its id. */
const refOf = ({ task, flag }: Place) => (flag ? ids.indexOf(task as (typeof ids)[number]) + 1 : task)
const writerOf = ({ at }: Place) => ({ as: `owner-${at % 2}`, leaseMs: 1_000, source: 'test' })

const makers: Record<string, (place: Place) => Step | Promise<Step>> = {
  'create on board': (place) =>
    hostStep(place.at, (host) => {
      const { at, flag, other } = place
      const more = flag ? { key: `key-${at % 3}`, blockedBy: [other] } : { parent: refOf(place) }
      return createOnBoard(host, onBoard, { subject: 'made', ...more })
    }),
  'number tasks': () => numbering,
  'claim on board': (place) => hostStep(place.at, (host) => claimOnBoard(host, onBoard, refOf(place), writerOf(place))),
  'claim next on board': (place) => hostStep(place.at, (host) => claimNext(host, onBoard, writerOf(place))),
  'heartbeat on board': (place) =>
    hostStep(place.at, (host) =>
      heartbeatOnBoard(host, onBoard, refOf(place), { owner: writerOf(place).as, fence: 1 }),
    ),
  'complete on board': (place) =>
    hostStep(place.at, (host) => completeOnBoard(host, onBoard, refOf(place), place.at, { source: 'test' })),
  'release on board': (place) =>
    hostStep(place.at, (host) => releaseOnBoard(host, onBoard, refOf(place), 'enough', writerOf(place))),
  'move on board': (place) =>
    hostStep(place.at, (host) => {
      const status = (['pending', 'in_progress', 'failed'] as const)[place.at % 3]
      const patch = { status, activeForm: `moving ${place.at}`, addBlocks: place.flag ? [place.other] : [] }
      return updateOnBoard(host, onBoard, refOf(place), patch, writerOf(place))
    }),
  'create team': ({ task, other, at, flag }) => {
    const team = { type: null, objectives: ['first', 'second'], parentBranch: null, durableThreshold: null }
    const made = draft(`made-${at}`, {
      ...storedFrom({ name: flag ? 'made' : `made for ${other}` }),
      parentId: flag ? null : task,
      team: at % 3 === 0 ? 'later' : { ...team, durableCategories: null },
    })
    return create({ ...ctx, treeLimits, trees: [[made]] })
  },
  'join team': ({ task, at, flag }) =>
    hostStep(at, (host) => joinTeam(host, libraryCaller, { taskId: flag ? task : 'group', agentId: memberOf(at) })),
  'complete agent': ({ task, at, flag }) =>
    hostStep(at, (host) =>
      completeAgent(host, libraryCaller, { taskId: flag ? 'group' : task, agentId: memberOf(at + 1) }),
    ),
  'complete team task': ({ task, at, flag }) =>
    hostStep(at, (host) =>
      completeTask(host, libraryCaller, {
        taskId: flag ? 'group' : task,
        agents: at % 3 === 0 ? 'complete' : 'refuse',
        archive: at % 5 === 4,
      }),
    ),
  'send mail': ({ at, flag, other }) =>
    hostStep(at, (host) => sendMail(host, 'main', other, { to: flag ? 'bob' : 'joe', body: `${at}` })),
  'send request': ({ at, flag, other }) =>
    hostStep(at, (host) =>
      sendRequest(host, 'main', other, { to: flag ? 'bob' : 'joe', topic: 'plan', body: `${at}` }),
    ),
  'read inbox': ({ at, flag }) =>
    hostStep(at, (host) => readInbox(host, 'main', flag ? 'bob' : 'joe', { limit: 1 + (at % 3), keep: false })),
  'answer request': ({ at, flag }) =>
    hostStep(at, (host) => {
      const requestId = at % 2 === 0 ? 'asked' : `request-${at - 1}-1`
      return answerRequest(host, 'bob', { requestId, approve: flag, body: `${at}` })
    }),
  start: ({ task }) => start(task, ctx),
  pause: ({ task }) => pause(task, ctx),
  resume: ({ task }) => resume(task, ctx),
  complete: ({ task }) => complete(task, { by: 'hand' }, undefined, ctx),
  fail: ({ task }) => fail(task, { reason: 'broke', code: 'BROKEN' }, undefined, ctx),
  cancel: ({ task }) => cancel(task, 'enough', ctx),
  retry: ({ task }) => retry(task, ctx),
  delete: ({ task, flag }) => deleteTask(task, flag ? 'cascade' : 'promote', ctx),
  block: ({ task, other }) => block(task, [other], ctx),
  unblock: ({ task, other }) => unblock(task, [other], ctx),
  claim: ({ task, at, flag }) =>
    claim({ ...ctx, taskId: flag ? task : null, owner: `owner-${at}`, leaseMs: 1_000, source: 'test' }),
  'claim below': ({ at }) =>
    claim({ ...ctx, taskId: null, below: 'group', owner: `owner-${at}`, leaseMs: undefined, source: 'test' }),
  'fire timers': () =>
    fireTimers({
      ...ctx,
      chance: 0,
      retryOf: () => retryPolicy as never,
      timeoutOf: () => undefined,
      executors: ['x'],
    }),
  settle: ({ run, flag }) =>
    settleRun({
      ...ctx,
      taskId: run,
      run: 1,
      outcome: flag
        ? { kind: 'returned', result: { done: run } }
        : { kind: 'threw', error: { code: 'BROKEN', message: 'broke', final: true } },
      retry: { ...retryPolicy, on: [] },
      chance: 0,
      diverged: [],
      journaled: true,
      readThrough: null,
    }),
  'begin entry': ({ run, at }) =>
    beginEntry(callRow({ id: `new-${at}`, taskId: run, ident: `p:${at}`, createdAt: ctx.at, updatedAt: ctx.at }), ctx),
  'finish entry': ({ run, at, flag }) =>
    finishEntry(
      { taskId: run, run: 1 },
      { id: flag ? `call-${run}` : `new-${Math.max(0, at - 1)}`, name: 'fetch' },
      { ok: true, result: at, resultLost: null },
      ctx,
    ),
  'append message': ({ run, at }) =>
    appendMessage({ taskId: run, run: 1 }, messageRow({ id: `message-${at}`, taskId: run }), [], ctx),
  output: ({ run, at }) => writeOutput({ taskId: run, run: 1 }, { text: `text ${at}`, stream: 'stdout' }, ctx),
  observe: ({ task, at, flag }) => ({
    name: 'observe',
    *decide(tx) {
      const branch = yield* tx.branch.get(flag ? 'task/made' : (['main', 'task/group/ada'][at % 2] as string))
      if (branch === undefined) return 'there is no branch'
      yield* tx.observation.countPending(branch.name, task)
      return yield* tx.observation.insert(observationRow({ id: `obs-${at}`, sessionId: task, branch: branch.name }))
    },
  }),
  progress: ({ run, at }) => reportProgress({ taskId: run, run: 1 }, at / 100, null, ctx),
  send: ({ task, at }) =>
    send({
      ...ctx,
      taskId: task,
      messageId: `sent-${at}`,
      content: 'hello',
      delivery: 'steer',
      retry: false,
      caller: { kind: 'program' } as never,
    }),
  create: ({ task, other, at, flag }) =>
    create({
      ...ctx,
      treeLimits,
      trees: [
        [
          draft(`made-${at}`, {
            executor: 'x',
            key: flag ? `key-${at % 3}` : null,
            parentId: flag ? null : task,
            blockedBy: flag ? [other] : [],
          }),
        ],
      ],
    }),
  'set limits': ({ at, flag }) =>
    setSharedLimits({ maxConcurrent: flag ? 1 + (at % 4) : null, limits: { x: at % 3 === 0 ? null : 1 + (at % 3) } }),
  // Not as the last step: an admission may have any place in its group.
  admit: ({ at, flag }) => ({
    ...admit({
      ...ctx,
      maxConcurrent: flag ? 9 : 4,
      executors: [{ name: 'x', limit: 9, timeoutMs: undefined, named: false }],
      registered: ['x'],
      beingCreated: new Set(),
      readAtOnce: new Map(at % 2 === 0 ? [['x', [2, 1, 3][at % 3] as number]] : []),
      maxCrashes: 5,
      trees: undefined,
      instance: { ...instance, leaseUntil: someTime + 1_000 },
    }),
    last: undefined,
  }),
}

const ofTeams = [
  'create team',
  'join team',
  'complete agent',
  'complete team task',
  'observe',
  'admit',
  'settle',
  'retry',
]
const ofMail = ['send mail', 'send request', 'read inbox', 'answer request']
const ofLimits = ['set limits', 'admit', 'create', 'settle']
const what = (names: readonly string[]) => fc.constantFrom(...names)
const stepArbitrary = fc.record({
  what: fc.oneof(what(Object.keys(makers)), what(ofTeams), what(ofMail), what(ofLimits)),
  task: fc.constantFrom(...ids),
  other: fc.constantFrom(...ids),
  run: fc.constantFrom(...runs),
  flag: fc.boolean(),
})
const groupArbitrary = fc.array(stepArbitrary, { minLength: 2, maxLength: 12 })
type Planned = Omit<Place, 'at'> & { what: string }

const stepOf = async ({ what, ...place }: Planned & Place) => (makers[what] as (typeof makers)[string])(place)
const stepsOf = (group: readonly Planned[]) => Promise.all(group.map((planned, at) => stepOf({ at, ...planned })))

const tables = [
  'task',
  'dependency',
  'run',
  'call',
  'message',
  'event',
  'instance',
  'setting',
  'observation',
  'board',
  'board_task',
  'branch',
  'consolidation',
  'fact',
  'mail',
  'objective',
  'stint',
  'team',
]
/** Their rows have names or ids: the order in which steps that share no task, no name and no inbox add some is not promised. */
const namedBy: Record<string, string> = { branch: 'name', observation: 'id', consolidation: 'id', mail: 'recipient' }

interface Side {
  ledger: Ledger
  rows(table: string): Promise<Array<Record<string, unknown>>>
  close(): Promise<void>
}

async function sqliteSide(): Promise<Side> {
  const file = ledgerFile()
  const ledger = await openLedger(file)
  const database = new Database(file, { readonly: true })
  return {
    ledger,
    rows: async (table) => database.prepare(`select * from "${table}"`).all() as Array<Record<string, unknown>>,
    async close() {
      database.close()
      await ledger.close()
    },
  }
}

/** Every group begins with empty tables. The ledger stays open, so that it has learned which steps run alone. */
async function serverSide(): Promise<Side & { empty(): Promise<unknown> }> {
  const url = await createDatabase(server)
  const ledger = await openLedger(url)
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: (type: number) => (type === 20 ? Number : pg.types.getTypeParser(type)) } as never,
  })
  await client.connect()
  return {
    ledger,
    empty: () => client.query(emptied),
    rows: async (table) => (await client.query(`select * from "${table}"`)).rows,
    async close() {
      await client.end()
      await ledger.close()
    },
  }
}

/**
 * All rows. Numbers may have gaps on a server: only their order counts, of rows that belong to a task only its own. The order of observations
 * of steps that share no task is not promised.
 */
async function stateOf({ rows }: Side): Promise<unknown> {
  const state: Record<string, unknown> = {}
  for (const table of tables) {
    const found = await rows(table)
    const isOfTasks = table !== 'event' && table !== 'task'
    const placeOf = ({ task_id, seq, ...row }: Record<string, unknown>) =>
      (isOfTasks ? `${String(task_id)} ` : '') +
      (namedBy[table] === undefined ? '' : `${String(row[namedBy[table]])} `) +
      (seq === undefined ? JSON.stringify(row) : String(Number(seq)).padStart(12, '0'))
    const sorted = found
      .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
      .map((row) => ({ ...row, seq: undefined, seen_seq: undefined }))
    state[table] = sorted.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, parsed(value)])),
    )
  }
  return { ...state, event: sortedRuns(state['event'] as Event[]) }
}

interface Event {
  type: string
  task_id: string
}

/** In which order a step writes events of one type about several tasks is not promised. */
function sortedRuns(events: readonly Event[]): Event[] {
  const runs: Event[][] = []
  for (const event of events) {
    if (runs.at(-1)?.[0]?.type === event.type) runs.at(-1)?.push(event)
    else runs.push([event])
  }
  return runs.flatMap((run) => run.sort((a, b) => (a.task_id < b.task_id ? -1 : 1)))
}

/** The databases write JSON with other spaces. Which of several tasks that cannot move an error names is not promised. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value
  return JSON.parse(value, (_key, each: { code?: unknown } | null) => (each?.code === 'GROUP_STUCK' ? each.code : each))
}

async function outcomeOf(step: Promise<unknown>): Promise<unknown> {
  const withoutSeq = (key: string, value: unknown) => (key === 'seq' ? undefined : value)
  try {
    return JSON.parse(JSON.stringify({ value: await step }, withoutSeq))
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { code, message }
  }
}

async function compare(
  group: readonly Planned[],
  onServer: Awaited<ReturnType<typeof serverSide>>,
  submitted = (steps: Step[]) => steps,
): Promise<void> {
  const sqlite = await sqliteSide()
  try {
    await onServer.empty()
    for (const { ledger } of [sqlite, onServer]) {
      await ledger.step({ name: 'family', decide: family })
      // Else the first step on the board numbers the tasks.
      if (group.length % 2 === 0) await ledger.step(numbering)
    }
    const expected: unknown[] = []
    for (const step of await stepsOf(group)) expected.push(await outcomeOf(sqlite.ledger.step(step)))
    const steps = await stepsOf(group)
    const outcomes = new Map<Step, unknown>()
    const ended = submitted([...steps]).map(async (step) => {
      outcomes.set(step, await outcomeOf(onServer.ledger.step(step)))
    })
    await Promise.all(ended)
    expect(steps.map((step) => outcomes.get(step))).toEqual(expected)
    // A task that was passed over would stay without a number.
    for (const { ledger } of [sqlite, onServer]) await ledger.step(numbering)
    expect(await stateOf(onServer)).toEqual(await stateOf(sqlite))
  } finally {
    await sqlite.close()
  }
}

const seed = process.env['ERRAND_SEED']

/** Where each step runs: beside those of other processes, or alone behind the exclusive gate. */
async function placesOf(steps: Record<string, (place: Place) => Step | Promise<Step>>): Promise<object> {
  const places: Record<string, 'beside' | 'alone'> = {}
  const onServer = await serverSide()
  const alone = vi.spyOn(OneByOne.prototype, 'runGroup')
  for (const [name, make] of Object.entries(steps)) {
    await onServer.empty()
    await onServer.ledger.step({ name: 'family', decide: family })
    await onServer.ledger.step(numbering)
    alone.mockClear()
    const place: Place = { at: 0, task: 'free', other: 'by-hand', run: 'run-a', flag: true }
    await onServer.ledger.step(await make(place)).catch(() => undefined)
    places[name] = alone.mock.calls.length > 0 ? 'alone' : 'beside'
  }
  alone.mockRestore()
  await onServer.close()
  return places
}

describe.skipIf(server === undefined)('steps of one group on a PostgreSQL server', () => {
  it('do what they do one after the other on SQLite', { timeout: 300_000 }, async () => {
    const onServer = await serverSide()
    const property = fc.asyncProperty(groupArbitrary, (group) => compare(group, onServer))
    await fc.assert(property, { numRuns: groups, verbose: 1, ...(seed === undefined ? {} : { seed: Number(seed) }) })
    await onServer.close()
  })

  it('a step does not see what later steps of its group write to the tasks that its dependents wait for', async () => {
    const onServer = await serverSide()
    const planned = (what: string, run: Planned['run'] = 'run-a'): Planned => {
      return { what, task: 'group', other: 'group', run, flag: false }
    }
    await compare([planned('delete'), planned('settle', 'run-b'), planned('settle')], onServer)
    const tasks = await onServer.rows('task')
    expect(tasks.find(({ id }) => id === 'later')).toMatchObject({ stuck_by: 'run-b' })
    await onServer.close()
  })

  it('an admission starts what a step before it makes ready by its last writes', async () => {
    const onServer = await serverSide()
    const planned = (what: string, run: Planned['run'] = 'run-a'): Planned => {
      return { what, task: 'free', other: 'free', run, flag: true }
    }
    // The first admission leaves nothing ready.
    await compare([planned('admit'), planned('settle'), planned('settle', 'run-b'), planned('admit')], onServer)
    const tasks = await onServer.rows('task')
    expect(tasks.find(({ id }) => id === 'later')).toMatchObject({ status: 'working' })
    await onServer.close()
  })

  it('a board is numbered after the creations of the steps before', async () => {
    const onServer = await serverSide()
    const planned = (what: string): Planned => ({ what, task: 'free', other: 'by-hand', run: 'run-a', flag: true })
    const group = ['create', 'number tasks', 'create on board', 'number tasks'].map(planned)
    // The ledger has learned by then which of its steps create tasks.
    for (let n = 0; n < 3; n++) await compare(group, onServer)
    await onServer.close()
  })

  it('a step sees the branches that steps before it create, and none of those that later ones do', async () => {
    const onServer = await serverSide()
    const planned = (what: string): Planned => ({ what, task: 'free', other: 'by-hand', run: 'run-a', flag: true })
    const group = ['observe', 'create team', 'create team', 'observe', 'create team'].map(planned)
    for (let n = 0; n < 3; n++) await compare(group, onServer)
    const branches = await onServer.rows('branch')
    expect(branches.filter(({ name }) => /^task.made/.test(String(name)))).toHaveLength(3)
    expect(await onServer.rows('observation')).toHaveLength(1)
    await onServer.close()
  })

  it('a step reads a branch as it is before a later step of its group changes it', async () => {
    const onServer = await serverSide()
    await onServer.ledger.step({ name: 'family', decide: family })
    // Both reach the branch in the same flight.
    const reader: Step<string | undefined> = {
      name: 'read',
      *decide(tx) {
        yield* tx.branch.get('main')
        return (yield* tx.branch.get('task/group'))?.status
      },
    }
    const writer: Step<void> = {
      name: 'merge',
      *decide(tx) {
        yield* tx.task.get('group')
        yield* tx.branch.saveStatus({ name: 'task/group', taskId: 'group', status: 'merged', updatedAt: 1 })
      },
    }
    const steps = [onServer.ledger.step(reader), onServer.ledger.step(writer), onServer.ledger.step(reader)]
    expect(await Promise.all(steps)).toEqual(['active', undefined, 'merged'])
    await onServer.close()
  })

  it('a creation takes two flights together with its admission, three with shared limits, and so does the end of a run', async () => {
    const onServer = await serverSide()
    await onServer.ledger.step({ name: 'instance', decide: (tx) => tx.instance.insert(instance) })
    const flight = vi.spyOn(ServerConnection.prototype, 'flight')
    const flightsOf = async (...steps: Step[]): Promise<number> => {
      flight.mockClear()
      await Promise.all(steps.map((step) => onServer.ledger.step(step)))
      return flight.mock.calls.length
    }
    const place: Place = { at: 0, task: 'free', other: 'free', run: 'run-a', flag: true }
    const admission = await stepOf({ what: 'admit', ...place })
    const creation = create({ ...ctx, treeLimits, trees: [[draft('new', { executor: 'x' })]] })
    expect(await flightsOf(creation, admission)).toBe(2)
    const outcome = { kind: 'returned', result: null } as const
    const rest = { retry: { ...retryPolicy, on: [] }, chance: 0, diverged: [], journaled: false, readThrough: null }
    expect(await flightsOf(settleRun({ ...ctx, taskId: 'new', run: 1, outcome, ...rest }), admission)).toBe(3)
    expect(await onServer.rows('task')).toMatchObject([{ id: 'new', status: 'completed' }])
    await onServer.ledger.step(setSharedLimits({ limits: { x: 3 } }))
    const another = (id: string) => create({ ...ctx, treeLimits, trees: [[draft(id, { executor: 'x' })]] })
    // The first group begins again with the lock of the limits.
    expect(await flightsOf(another('second'), admission)).toBe(4)
    expect(await flightsOf(another('third'), admission)).toBe(3)
    flight.mockRestore()
    await onServer.close()
  })

  it('run beside those of other processes unless they concern more than the rows of their tasks', async () => {
    const alone = ['cancel', 'delete', 'set limits']
    const expected = Object.keys(makers).map((name) => [name, alone.includes(name) ? 'alone' : 'beside'])
    expect(await placesOf(makers)).toEqual(Object.fromEntries(expected))
  })

  it('run alone if they write rows of a board, a branch or an inbox that they have read without its lock, or that of the task', async () => {
    const writing = (decide: (tx: Tx) => Op<void>) => () => ({ name: 'write', decide })
    const steps = {
      'read to be changed': writing(function* (tx) {
        yield* tx.board.save((yield* tx.board.toAdd('main')) as never)
      }),
      'read to be seen': writing(function* (tx) {
        yield* tx.board.save((yield* tx.board.get('main')) as never)
      }),
      'the fields of a task that is locked': writing(function* (tx) {
        yield* tx.task.get('free')
        yield* tx.board.saveFields('main', 'free', {})
      }),
      'the fields of a task that is not': writing((tx) => tx.board.saveFields('main', 'free', {})),
      'the status of a branch whose task is locked': writing(function* (tx) {
        yield* tx.task.get('group')
        yield* tx.branch.saveStatus({ name: 'task/group', taskId: 'group', status: 'merged', updatedAt: 1 })
      }),
      'the status of a branch whose task is not': writing((tx) =>
        tx.branch.saveStatus({ name: 'task/group', taskId: 'group', status: 'merged', updatedAt: 1 }),
      ),
      'mail of an inbox that was read': writing(function* (tx) {
        for (const mail of yield* tx.mail.unread('main', 'bob', 9)) yield* tx.mail.markRead(mail, 1)
      }),
      'a branch that is archived': writing((tx) =>
        tx.branch.save({ name: 'task/group', status: 'archived', description: '', updatedAt: 1 }),
      ),
      'mail of an inbox that was not': writing((tx) => tx.mail.markRead({ id: 'asked', recipient: 'bob' }, 1)),
      'a claim that was found': writing(function* (tx) {
        const [found] = (yield* tx.task.claimable({}, 1)) as TaskRecord[]
        yield* tx.task.save(found as TaskRecord)
      }),
      'a timer that was found': writing(function* (tx) {
        yield* tx.task.save((yield* tx.task.due(ctx.at, 1))[0] as TaskRecord)
      }),
    }
    expect(await placesOf(steps)).toEqual({
      'read to be changed': 'beside',
      'read to be seen': 'alone',
      'the fields of a task that is locked': 'beside',
      'the fields of a task that is not': 'alone',
      'the status of a branch whose task is locked': 'beside',
      'the status of a branch whose task is not': 'alone',
      'a branch that is archived': 'alone',
      'mail of an inbox that was read': 'beside',
      'mail of an inbox that was not': 'alone',
      'a claim that was found': 'alone',
      'a timer that was found': 'alone',
    })
  })

  it('the comparison finds a group that is run in another order', { timeout: 300_000 }, async () => {
    const onServer = await serverSide()
    const backwards = (steps: Step[]) => steps.reverse()
    const property = fc.asyncProperty(groupArbitrary, (group) => compare(group, onServer, backwards))
    await expect(fc.assert(property, { numRuns: groups, endOnFailure: true })).rejects.toThrow(/Property failed/)
    await onServer.close()
  })
})
