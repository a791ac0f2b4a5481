// The tables of a migrated ledger: their words are those of the machines and entities, they hold against a writer that is not
// this engine, and no statement on a hot path walks through a whole table.
import { describe, expect, it } from 'vitest'
import { callKinds, callStatuses } from '../../../src/entities/call.ts'
import { dependencyKinds } from '../../../src/entities/dependency.ts'
import {
  branchStatuses,
  consolidationTypes,
  decisionKinds,
  type FactRecord,
  factStatuses,
  memorableTypes,
  observationTypes,
} from '../../../src/entities/memory.ts'
import { messageRoles } from '../../../src/entities/message.ts'
import { runOutcomes, runStatuses } from '../../../src/entities/run.ts'
import { isSettled, isTerminal, taskStatuses } from '../../../src/entities/task.ts'
import { onInterruptPolicies } from '../../../src/entities/task-fields.ts'
import { objectiveStatuses, stintStatuses } from '../../../src/entities/team.ts'
import type { Connection } from '../../../src/ledger/dialects/sqlite/connection.ts'
import type { Op, Tx } from '../../../src/ledger/ledger.ts'
import type { Request } from '../../../src/ledger/statement.ts'
import { callTransitions, openCallStatuses, runTransitions } from '../../../src/machines/lifecycles.ts'
import { taskTransitions } from '../../../src/machines/task-machine.ts'
import {
  branchRow,
  callRow,
  consolidationRow,
  decisionRow,
  edgeRow,
  eventRow,
  factRow,
  messageRow,
  objectiveRow,
  observationRow,
  runRow,
  stintRow,
  taskRow,
  teamRow,
} from '../../../src/testing/index.ts'
import { migrated } from './migrated.ts'

describe('the words in the tables', () => {
  /** The lists of quoted words after `column in`, of a table, index or trigger. */
  function listsIn(text: string, column: string): string[][] {
    const lists = text.matchAll(new RegExp(`\\b"?${column}"? in \\(([^)]*)\\)`, 'g'))
    return [...lists].map(([, list]) => [...(list as string).matchAll(/'([^']*)'/g)].map(([, word]) => word as string))
  }

  /** What differs between a list in the ledger and the words of the code; null when nothing does. */
  function drift(stored: readonly string[] | undefined, words: readonly string[]): string | null {
    if (stored === undefined) return 'the ledger has no such list'
    const missing = words.filter((word) => !stored.includes(word))
    const surplus = stored.filter((word) => !words.includes(word))
    return missing.length + surplus.length === 0 ? null : `missing: ${missing.join()}; surplus: ${surplus.join()}`
  }

  const settled = taskStatuses.filter(isSettled)
  const lists: Array<[name: string, column: string, nth: number, words: readonly string[]]> = [
    ['task', 'status', 0, Object.keys(taskTransitions)],
    ['task', 'status', 1, settled],
    ['task_stays_terminal', 'status', 0, taskStatuses.filter(isTerminal)],
    [
      'task_stays_terminal',
      'status',
      0,
      taskStatuses.filter((status) => Object.keys(taskTransitions[status]).length === 0),
    ],
    ['dependency', 'kind', 0, dependencyKinds],
    ['run', 'status', 0, Object.keys(runTransitions)],
    ['run', 'status', 0, runStatuses],
    ['run', 'outcome', 0, runOutcomes],
    ['call', 'kind', 0, callKinds],
    ['call', 'status', 0, Object.keys(callTransitions)],
    ['call', 'status', 1, openCallStatuses],
    ['call', 'on_interrupt', 0, onInterruptPolicies],
    ['call_open', 'status', 0, openCallStatuses],
    ['call_keeps_its_outcome', 'status', 0, callStatuses.filter((status) => !openCallStatuses.includes(status))],
    ['message', 'role', 0, messageRoles],
    ['branch', 'status', 0, branchStatuses],
    ['observation', 'type', 0, observationTypes],
    ['observation_pending', 'type', 0, memorableTypes],
    ['observation_pending_on', 'type', 0, memorableTypes],
    ['fact', 'status', 0, factStatuses],
    ['fact', 'verdict', 0, ['durable', 'ephemeral'] satisfies Array<FactRecord['verdict']>],
    ['consolidation', 'type', 0, consolidationTypes],
    ['decision', 'kind', 0, decisionKinds],
    ['objective', 'status', 0, objectiveStatuses],
    ['stint', 'status', 0, stintStatuses],
  ]

  it.each(lists)('are those of the code: %s.%s (%i)', async (name, column, nth, words) => {
    const { rows } = await migrated()
    const text = rows('select name, sql from sqlite_schema').find((object) => object['name'] === name)?.['sql']
    expect(drift(listsIn(text ?? '', column)[nth], words)).toBe(null)
  })

  it('would be found to drift: a word too many, one too few, a list that is missing', async () => {
    expect(drift(['a', 'b', 'c'], ['a', 'b'])).toContain('surplus: c')
    expect(drift(['a'], ['a', 'b'])).toContain('missing: b')
    expect(drift(listsIn('status text', 'status')[0], ['a'])).toContain('no such list')
    expect(listsIn(`"status" in ('a', 'b') and new.status in ('c')`, 'status')).toEqual([['a', 'b'], ['c']])
  })

  it('for edges that a trigger forbids are those that the machines do not have', async () => {
    const allowed = (name: 'task' | 'call', from: string, to: string): boolean => {
      const table: Record<string, object> = name === 'task' ? taskTransitions : callTransitions
      return from === to || (Object.values(table[from] as object) as string[]).includes(to)
    }
    const { connection, tx, drive } = await migrated()
    const forbidden: string[] = []
    for (const from of callStatuses) {
      for (const to of callStatuses) {
        connection.execute('savepoint try')
        drive(tx.task.insert(taskRow({ id: 'a' })))
        const error = (status: string) => (status === 'failed' ? { code: 'CALL_FAILED', message: 'no' } : null)
        drive(tx.call.insert(callRow({ id: 'c', taskId: 'a', status: from, error: error(from) })))
        try {
          drive(tx.call.save(callRow({ id: 'c', taskId: 'a', status: to, error: error(to) })))
        } catch {
          forbidden.push(`${from} ${to}`)
        }
        connection.execute('rollback to try')
        connection.execute('release try')
      }
    }
    // Stricter than the machine only in that an outcome may not even be written twice, laxer only in skipping `in_progress`.
    const byMachine = callStatuses.flatMap((from) =>
      callStatuses.filter((to) => !allowed('call', from, to)).map((to) => `${from} ${to}`),
    )
    expect(byMachine.filter((edge) => !forbidden.includes(edge))).toEqual(['pending completed'])
    expect(forbidden.filter((edge) => !byMachine.includes(edge))).toEqual(['completed completed', 'failed failed'])
  })
})

describe('a writer that is not this engine', () => {
  async function withRows() {
    const world = await migrated()
    const { tx, drive } = world
    drive(tx.task.insert(taskRow({ id: 'done', status: 'completed', completedAt: 1 })))
    drive(tx.task.insert(taskRow({ id: 'gone', status: 'canceled', completedAt: 1 })))
    drive(tx.call.insert(callRow({ id: 'c', taskId: 'done', status: 'completed' })))
    drive(tx.message.append(messageRow({ id: 'm', taskId: 'done' })))
    drive(tx.task.insert(taskRow({ id: 'open' })))
    drive(tx.message.append(messageRow({ id: 'n', taskId: 'open' })))
    drive(tx.event.append(eventRow({ taskId: 'done' })))
    drive(tx.observation.insert(observationRow({ id: 'o', consolidatedBy: 'r' })))
    drive(tx.fact.insert(factRow({ id: 'f' })))
    drive(tx.fact.insert(factRow({ id: 'old', status: 'superseded', successorId: 'f' })))
    drive(tx.consolidation.insert(consolidationRow({ id: 'r' })))
    drive(tx.consolidation.decide(decisionRow({ consolidationId: 'r', factId: 'f' })))
    return world
  }

  const attempts: Array<[string, string, RegExp]> = [
    ['a completed task revived', `update task set status = 'working', completed_at = null where id = 'done'`, /status/],
    ['a canceled task completed', `update task set status = 'completed' where id = 'gone'`, /never changes its status/],
    ['a message rewritten', `update message set content = 'other'`, /a message never changes/],
    ['a message of an open task deleted', 'delete from message', /never deleted while its task is open/],
    ['an event rewritten', `update event set data = '{}'`, /an event never changes/],
    ['an outcome taken back', `update call set status = 'in_progress'`, /never takes back its outcome/],
    ['a fact that says something else', `update fact set text = 'other'`, /what a fact says never changes/],
    ['a fact of another kind', `update fact set category = 'decision'`, /what a fact says never changes/],
    ['a fact revived', `update fact set status = 'active', successor_id = null where id = 'old'`, /never returns/],
    ['an observation taken up again', `update observation set consolidated_by = null`, /is taken up once/],
    ['S2-100 the record of memory rewritten', 'update consolidation set facts_created = 9', /never changes/],
    ['S2-100 the record of memory shortened', 'delete from consolidation', /never deleted/],
    ['S2-100 a decision rewritten', `update decision set note = 'other'`, /never changes/],
    ['S2-100 a decision deleted', 'delete from decision', /never deleted/],
    ['a second root of memory', `update branch set parent = 'main'`, /CHECK/],
    ['the first branch archived', `update branch set status = 'archived'`, /CHECK/],
    ['the first branch deleted', 'delete from branch', /FOREIGN KEY/],
    ['a task deleted under its events', `delete from task where id = 'done'`, /FOREIGN KEY/],
    ['a number in words', `update task set priority = 'high'`, /cannot store TEXT/],
    ['a truth that is neither', 'update task set held = 2', /CHECK/],
  ]

  it.each(attempts)('is refused: %s', async (_title, sql, reason) => {
    const { connection, rows } = await withRows()
    const tables = ['task', 'call', 'message', 'event', 'observation', 'fact', 'consolidation', 'decision', 'branch']
    const before = tables.map((table) => rows(`select * from ${table}`))
    expect(() => connection.execute(sql)).toThrow(reason)
    expect(tables.map((table) => rows(`select * from ${table}`))).toEqual(before)
  })

  it('finds every table STRICT but the one that is a full-text index', async () => {
    const { rows } = await migrated()
    const tables = rows(
      `select name, strict from pragma_table_list
       where schema = 'main' and name not like 'sqlite_%' and name not like 'fact\\_text%' escape '\\' order by name`,
    )
    expect(tables.map((table) => table['name'])).toEqual([
      'board',
      'board_file',
      'board_mirror',
      'board_task',
      'branch',
      'call',
      'consolidation',
      'decision',
      'dependency',
      'event',
      'fact',
      'fact_vector',
      'fact_word',
      'instance',
      'mail',
      'message',
      'objective',
      'observation',
      'run',
      'setting',
      'stint',
      'task',
      'team',
    ])
    expect(tables.every((table) => Number(table['strict']) === 1)).toBe(true)
  })
})

describe('X-016 no full-table scans on hot paths:', () => {
  /** The lines of a plan that walk through a table; through a partial index is no such walk, for it holds only what counts. */
  function scansOf(connection: Connection, request: Request): string[] {
    const plan = connection.run({ ...request, sql: `explain query plan ${request.sql}`, want: 'rows' }) as Array<{
      detail: string
    }>
    const partial =
      /USING (?:COVERING )?INDEX (?:task_ready|task_timer|call_timer|run_timer|run_open|run_one_open|instance_open|task_claimable|task_lease|task_deadline|task_in_lane|team_unclosed|stint_of_worker)\b/
    // FTS5 is asked for a word or for a row: its index is no walk either.
    const fullText = /^SCAN fact_text VIRTUAL TABLE INDEX \d+:(?:M\d|=)/
    return plan
      .map((line) => line.detail)
      .filter((line) => /^SCAN (?!inside\b|below\b|entry\b|counted\b|json_each\b|CONSTANT ROW)/.test(line))
      .filter((line) => !partial.test(line) && !fullText.test(line))
  }

  const trees = { rootKeys: ['k'], rootKeyPrefixes: ['k+'] }
  const hot: Record<string, (tx: Tx) => Op<unknown>> = {
    'a task by id': (tx) => tx.task.get('a'),
    'a task by its number': (tx) => tx.task.getBySeq(1),
    'a task by its key': (tx) => tx.task.getByKey('k'),
    'tasks by the beginning of their ids': (tx) => tx.task.findByPrefix('a', 2),
    'ready heads': (tx) => tx.task.ready('x', '', 10),
    'whether anybody is awake': (tx) => tx.task.anyAwake(['nobody']),
    'whether anybody of several executors is awake': (tx) => tx.task.anyAwake(['nobody', 'no one']),
    'ready heads that name a model': (tx) => tx.task.ready('x', '', 10, 9, { named: true }),
    'whether anybody is awake who names a model': (tx) => tx.task.anyAwake([], ['nobody']),
    'ready heads of some trees': (tx) => tx.task.ready('x', '', 1, 9, { trees }),
    'whether anything of some trees is ready': (tx) => tx.task.anyReady(['x'], [], trees),
    'whether anybody of some trees is awake': (tx) => tx.task.anyAwake(['x'], [], trees),
    'lanes of an executor': (tx) => tx.task.lanes('x'),
    'its first lanes': (tx) => tx.task.lanes('x', 10),
    'open runs of a lane': (tx) => tx.task.openInLane('a'),
    'the best task to claim': (tx) => tx.task.claimable({ role: 'writer', parentId: 'a', tags: ['t'] }),
    'the best task for somebody below a task': (tx) => tx.task.claimable({ owner: 'ann', below: 'a' }),
    'a board': (tx) => tx.board.get('main'),
    'a task by its number on a board': (tx) => tx.board.entry('main', 1),
    'the number of a task': (tx) => tx.board.entryOf('main', 'a'),
    'a page of a board': (tx) => tx.board.page('main', 0, 10),
    'who comes after a task of a board': (tx) => tx.board.dependentsOf('main', 'a'),
    'what a task of a board comes after': (tx) => tx.board.blockersOf('main', 'b'),
    'tasks without a number': (tx) => tx.board.unnumbered('main', 0, 10),
    'unread mail': (tx) => tx.mail.unread('main', 'ann', 10),
    'a request': (tx) => tx.mail.request('r'),
    'who writes a folder': (tx) => tx.mirror.holder('/a'),
    'texts of a file': (tx) => tx.mirror.texts('/a', 1, 2),
    'files of a folder': (tx) => tx.mirror.numbers('/a'),
    'leases that are over': (tx) => tx.task.lapsed(1, 10),
    'deadlines that are over': (tx) => tx.task.late(1, 10),
    'the length of the queue': (tx) => tx.task.countQueued(),
    'open runs of all engines': (tx) => tx.run.countOpen(),
    children: (tx) => tx.task.children('a'),
    descendants: (tx) => tx.task.subtree('a'),
    ancestors: (tx) => tx.task.ancestors('b'),
    'what is known of children': (tx) => tx.task.childFacts('a'),
    'what keeps a task from moving': (tx) => tx.dependency.stuckBehind('a'),
    'tasks of some states': (tx) => tx.task.list({ statuses: ['working'] }, 10),
    'children in pages': (tx) => tx.task.list({ parentId: 'a' }, 10),
    'tasks of a plan': (tx) => tx.task.list({ keyPrefix: 'k' }, 10),
    'a search in all tasks': (tx) => tx.task.oldest({ words: ['b', 'a'] }, 10, 0),
    'tasks with a tag': (tx) => tx.task.newest({ tags: ['t'], metadata: { a: 1 }, type: 'x' }, 10, 0),
    'how many tasks an executor has': (tx) => tx.task.count({ executor: 'x', below: 'a' }),
    'tasks as they stood once': (tx) => tx.task.asOf(1, 10, 0),
    'tasks by state': (tx) => tx.task.countByStatus(),
    'ids of descendants': (tx) => tx.task.idsBelow('a'),
    'due tasks': (tx) => tx.task.due(1, 10),
    'the next timer': (tx) => tx.task.nextDue(),
    'due runs': (tx) => tx.run.due(1, 10, { instanceId: 'e', executors: ['x'] }),
    'the next end of a run': (tx) => tx.run.nextDue({ instanceId: 'e', executors: ['x'] }),
    'open runs of one engine': (tx) => tx.run.countOpenOf('e'),
    'whether anything is ready': (tx) => tx.task.anyReady(['x', 'y']),
    'suspects of crashes': (tx) => tx.task.suspects('x', 10, 2),
    'due entries': (tx) => tx.call.due(1, 10),
    'the next due entry': (tx) => tx.call.nextDue(),
    'open blockers': (tx) => tx.dependency.openBlockers('b'),
    blockers: (tx) => tx.dependency.blockers('b'),
    dependents: (tx) => tx.dependency.dependents('a'),
    'open waits': (tx) => tx.dependency.openWaits('c'),
    'the search for a cycle': (tx) => tx.dependency.path(['b'], new Set(['nowhere'])),
    'a run': (tx) => tx.run.get('a', 1),
    'runs of a task': (tx) => tx.run.list('a'),
    'open runs of an instance': (tx) => tx.run.openOf('engine-1'),
    'a call': (tx) => tx.call.get('c'),
    'the journal of a task': (tx) => tx.call.list('a'),
    'open calls': (tx) => tx.call.open('a'),
    'messages of a task': (tx) => tx.message.list('a'),
    'how many messages a task has': (tx) => tx.message.count('a'),
    'a message': (tx) => tx.message.get('m'),
    'events after a position': (tx) => tx.event.after(1, 10),
    'events of a task after a position': (tx) => tx.event.after(1, 10, 'a'),
    'the last position': (tx) => tx.event.last(),
    'the last event of a type': (tx) => tx.event.lastOf('a', 'task.started'),
    'open instances': (tx) => tx.instance.open(),
    'a branch and all above it': (tx) => tx.branch.lineage('side'),
    'branches below one': (tx) => tx.branch.list({ parent: 'main' }, 10, 0),
    'branches of a task': (tx) => tx.branch.list({ taskId: 'a' }, 10, 0),
    'an observation': (tx) => tx.observation.get('o'),
    'pending observations': (tx) => tx.observation.pending('main', null, 10),
    'pending observations of a session': (tx) => tx.observation.pending('main', 's', 10),
    'sessions that have pending ones': (tx) => tx.observation.pendingSessions('main'),
    'branches that have pending ones': (tx) => tx.observation.pendingBranches('s'),
    'how many are pending': (tx) => tx.observation.countPending('main', 's'),
    'observations of a session': (tx) => tx.observation.list({ sessionId: 's' }, 10, 9),
    'observations of a task': (tx) => tx.observation.list({ taskId: 'a' }, 10, 9),
    observing: (tx) => tx.observation.insert(observationRow({ id: 'new' })),
    'taking up an observation': (tx) => tx.observation.consume('o', 'r'),
    'a fact': (tx) => tx.fact.get('f'),
    'facts of several branches': (tx) => tx.fact.list({ branches: ['main', 'side'] }, 10, 9),
    'active facts': (tx) => tx.fact.active('main', 0, 10),
    'how many facts are active': (tx) => tx.fact.countActive(['main', 'side']),
    'facts by the beginning of their ids': (tx) => tx.fact.findByPrefix('f', 2),
    'facts that may be alike': (tx) => tx.fact.candidates('main', ['the', 'tests', 'run'], 0.5),
    'facts on a subject': (tx) => tx.fact.sameSubject('main', 'tests'),
    'facts to be compared': (tx) => tx.fact.uncompared('main', 'm', 10),
    'facts to be merged': (tx) => tx.fact.unmerged('main', 0, 10),
    'the summary of an agent': (tx) => tx.fact.summaryOf('main', 'ann'),
    'facts by their words': (tx) => tx.fact.search(['main', 'side'], ['tests', 'run'], 10),
    'vectors of a branch': (tx) => tx.fact.vectors('main', 'm'),
    'a new fact': (tx) => tx.fact.insert(factRow({ id: 'new' })),
    'superseding a fact': (tx) =>
      tx.fact.save({ ...factRow({ id: 'f' }), seq: 1, status: 'superseded', successorId: 'g' }),
    'keeping a vector': (tx) => tx.fact.keepVector('f', 'm', 'AAAA'),
    'runs of consolidation about a task': (tx) => tx.consolidation.list({ taskId: 'a' }, 10, 9),
    'runs of consolidation of a type': (tx) => tx.consolidation.list({ type: 'merge' }, 10, 9),
    'runs of consolidation on a branch': (tx) => tx.consolidation.list({ branch: 'side' }, 10, 9),
    'decisions on a fact': (tx) => tx.consolidation.decisionsOn('f', 9),
    'decisions that name a fact': (tx) => tx.consolidation.decisionsNaming('f', 10),
    'decisions of a run': (tx) => tx.consolidation.decisions('r', 10, 0),
    'a team': (tx) => tx.team.get('a'),
    'the team of a branch': (tx) => tx.team.ofBranch('side'),
    'teams that are unclosed': (tx) => tx.team.unclosed(10, 0),
    'objectives of a team': (tx) => tx.team.objectives('a'),
    'stints on a task': (tx) => tx.team.stints('a'),
    'the latest stint of an agent': (tx) => tx.team.latestStint('a', 'ann'),
    'what a worker works on': (tx) => tx.team.stintOfWorker('b'),
    'stints that were abandoned': (tx) => tx.team.abandoned(10),
    'the timeline of an agent': (tx) => tx.team.timeline('ann', 10, 0),
    'saving a stint': (tx) => tx.team.saveStint(stintRow({ taskId: 'a', agentId: 'ann', branch: 'side' })),
    'saving an objective': (tx) => tx.team.saveObjective(objectiveRow({ taskId: 'a' })),
    'saving a task': (tx) => tx.task.save({ ...taskRow({ id: 'a' }), seq: 1 }),
    'saving a run': (tx) => tx.run.save(runRow({ taskId: 'a' })),
    'saving a call': (tx) => tx.call.save(callRow({ id: 'c', taskId: 'a' })),
    'closing waits': (tx) => tx.dependency.satisfyWaits('w', 1),
    'closing an edge': (tx) => tx.dependency.satisfy(edgeRow({ taskId: 'b', blockerId: 'a' }), 1),
    'appending a message': (tx) => tx.message.append(messageRow({ id: 'new', taskId: 'a' })),
    'adding an edge': (tx) => tx.dependency.insert(edgeRow({ taskId: 'a', blockerId: 'b' })),
  }

  it.each(Object.keys(hot))('%s', async (title) => {
    const { connection, tx, drive } = await migrated()
    drive(tx.task.insert(taskRow({ id: 'a', key: 'k', group: true })))
    drive(tx.task.insert(taskRow({ id: 'b', parentId: 'a' })))
    drive(tx.task.insert(taskRow({ id: 'foreign', executor: 'x', ready: true })))
    drive(tx.run.insert(runRow({ taskId: 'a' })))
    drive(tx.call.insert(callRow({ id: 'c', taskId: 'a' })))
    drive(tx.dependency.insert(edgeRow({ taskId: 'b', blockerId: 'a' })))
    drive(tx.branch.insert(branchRow({ name: 'side' })))
    drive(tx.fact.insert(factRow({ id: 'f' })))
    drive(tx.team.insert(teamRow({ taskId: 'a', branch: 'side' })))
    const seen: Request[] = []
    drive((hot[title] as (tx: Tx) => Op<unknown>)(tx), seen)
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.flatMap((request) => scansOf(connection, request))).toEqual([])
  })

  it('a statement that does walk through a table would be found', async () => {
    const { connection } = await migrated()
    for (const sql of [
      `select * from task where name = 'x'`,
      'select * from event where at > 1',
      'select rowid from fact_text',
    ]) {
      expect(scansOf(connection, { sql, parameters: [], want: 'rows' })).toHaveLength(1)
    }
  })

  it('V-02 the ready tasks of one tree are found at once behind 20,000 foreign ones', async () => {
    const { connection, tx, drive } = await migrated()
    connection.execute('begin immediate')
    drive(tx.task.insert(taskRow({ id: 'foreign', group: true })))
    for (let n = 0; n < 20_000; n++) {
      const work = { parentId: 'foreign', executor: 'x', ready: true, priority: 9 }
      drive(tx.task.insert(taskRow({ id: `foreign-${n}`, lane: n % 2 === 0 ? 'foreign' : '', ...work })))
    }
    drive(tx.task.insert(taskRow({ id: 'a', key: 'k', group: true })))
    drive(tx.task.insert(taskRow({ id: 'b', parentId: 'a', executor: 'x', ready: true })))
    drive(tx.task.insert(taskRow({ id: 'c', parentId: 'a', executor: 'x', ready: true, lane: 'a' })))
    connection.execute('commit')
    const since = performance.now()
    for (let look = 0; look < 20; look++) {
      expect(drive(tx.task.ready('x', '', 4, 9, { trees })).map(({ id }) => id)).toEqual(['b'])
      expect(drive(tx.task.lanes('x', 4, { trees }))).toEqual(['a'])
      expect(drive(tx.task.anyReady(['x'], [], trees))).toBe(true)
    }
    expect(performance.now() - since).toBeLessThan(500)
  })

  it('X-016 1,000 tasks with 100 messages each are listed and loaded within two seconds', async () => {
    const { connection, tx, drive } = await migrated()
    connection.execute('begin immediate')
    for (let n = 0; n < 1_000; n++) {
      drive(tx.task.insert(taskRow({ id: `task-${n}`, priority: n % 10 })))
      for (let m = 0; m < 100; m++) {
        drive(
          tx.message.append(messageRow({ id: `message-${n}-${m}`, taskId: `task-${n}`, content: 'hello '.repeat(20) })),
        )
      }
    }
    connection.execute('commit')
    const since = performance.now()
    let messages = 0
    const tasks = drive(tx.task.list({}, 1_000))
    for (const task of tasks) messages += drive(tx.message.list(task.id)).length
    const took = performance.now() - since
    expect([tasks.length, messages]).toEqual([1_000, 100_000])
    expect(took).toBeLessThan(2_000)
  })
})
