// The tables of a migrated ledger: their words are those of the machines and entities, they hold against a writer that is not
// this engine, and no statement on a hot path walks through a whole table.
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { callKinds, callStatuses } from '../../../src/entities/call.ts'
import { dependencyKinds } from '../../../src/entities/dependency.ts'
import { messageRoles } from '../../../src/entities/message.ts'
import { runOutcomes, runStatuses } from '../../../src/entities/run.ts'
import { isSettled, isTerminal, onInterruptPolicies, taskStatuses } from '../../../src/entities/task.ts'
import type { Connection } from '../../../src/ledger/dialects/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/dialects/sqlite/dialect.ts'
import { openFile } from '../../../src/ledger/dialects/sqlite/open-file.ts'
import type { Op, Tx } from '../../../src/ledger/ledger.ts'
import type { Request } from '../../../src/ledger/statement.ts'
import { createTables } from '../../../src/ledger/tables/tables.ts'
import { callTransitions, openCallStatuses } from '../../../src/machines/call-machine.ts'
import { runTransitions } from '../../../src/machines/run-machine.ts'
import { taskTransitions } from '../../../src/machines/task-machine.ts'
import { callRow, edgeRow, eventRow, messageRow, runRow, taskRow } from '../../../src/testing/index.ts'

async function setup() {
  const { connection } = await openFile(':memory:', systemClock, () => 0.5)
  onTestFinished(() => connection.close())
  const tx = createTables(sqliteDialect, () => undefined)
  const rows = (sql: string) =>
    connection.run({ sql, parameters: [], want: 'rows' }) as Array<Record<string, string | null>>
  const drive = <R>(op: Op<R>, seen: Request[] = []): R => {
    let next = op.next()
    while (!next.done) {
      seen.push(next.value as Request)
      next = op.next(connection.run(next.value as Request))
    }
    return next.value
  }
  return { connection, tx, rows, drive }
}

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
  ]

  it.each(lists)('are those of the code: %s.%s (%i)', async (name, column, nth, words) => {
    const { rows } = await setup()
    const text = rows('select name, sql from sqlite_schema').find((object) => object['name'] === name)?.['sql']
    expect(drift(listsIn(text ?? '', column)[nth], words)).toBe(null)
  })

  it('would be found to drift: a word too many, one too few, a list that is gone', async () => {
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
    const { connection, tx, drive } = await setup()
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
    const world = await setup()
    const { tx, drive } = world
    drive(tx.task.insert(taskRow({ id: 'done', status: 'completed', completedAt: 1 })))
    drive(tx.task.insert(taskRow({ id: 'gone', status: 'canceled', completedAt: 1 })))
    drive(tx.call.insert(callRow({ id: 'c', taskId: 'done', status: 'completed' })))
    drive(tx.message.append(messageRow({ id: 'm', taskId: 'done' })))
    drive(tx.task.insert(taskRow({ id: 'open' })))
    drive(tx.message.append(messageRow({ id: 'n', taskId: 'open' })))
    drive(tx.event.append(eventRow({ taskId: 'done' })))
    return world
  }

  const attempts: Array<[string, string, RegExp]> = [
    ['a completed task revived', `update task set status = 'working', completed_at = null where id = 'done'`, /status/],
    ['a canceled task completed', `update task set status = 'completed' where id = 'gone'`, /never changes its status/],
    ['a message rewritten', `update message set content = 'other'`, /a message never changes/],
    ['a message of an open task deleted', 'delete from message', /never deleted while its task is open/],
    ['an event rewritten', `update event set data = '{}'`, /an event never changes/],
    ['an outcome taken back', `update call set status = 'in_progress'`, /never takes back its outcome/],
    ['a task deleted under its events', `delete from task where id = 'done'`, /FOREIGN KEY/],
    ['a number in words', `update task set priority = 'high'`, /cannot store TEXT/],
    ['a truth that is neither', 'update task set held = 2', /CHECK/],
  ]

  it.each(attempts)('is refused: %s', async (_title, sql, reason) => {
    const { connection, rows } = await withRows()
    const before = ['task', 'call', 'message', 'event'].map((table) => rows(`select * from ${table}`))
    expect(() => connection.execute(sql)).toThrow(reason)
    expect(['task', 'call', 'message', 'event'].map((table) => rows(`select * from ${table}`))).toEqual(before)
  })

  it('finds every table STRICT', async () => {
    const { rows } = await setup()
    const tables = rows(
      `select name, strict from pragma_table_list where schema = 'main' and name not like 'sqlite_%' order by name`,
    )
    expect(tables.map((table) => table['name'])).toEqual([
      'board',
      'board_file',
      'board_mirror',
      'board_task',
      'call',
      'dependency',
      'event',
      'instance',
      'mail',
      'message',
      'run',
      'setting',
      'task',
    ])
    expect(tables.every((table) => Number(table['strict']) === 1)).toBe(true)
  })
})

describe('no full-table scans on hot paths (X-016):', () => {
  /** The lines of a plan that walk through a table; through a partial index is no such walk, for it holds only what counts. */
  function scansOf(connection: Connection, request: Request): string[] {
    const plan = connection.run({ ...request, sql: `explain query plan ${request.sql}`, want: 'rows' }) as Array<{
      detail: string
    }>
    const partial =
      /USING (?:COVERING )?INDEX (?:task_ready|task_timer|call_timer|run_timer|run_open|run_one_open|instance_open|task_claimable|task_lease|task_deadline|task_in_lane)\b/
    return plan
      .map((line) => line.detail)
      .filter((line) => /^SCAN (?!below\b|entry\b)/.test(line) && !partial.test(line))
  }

  const hot: Record<string, (tx: Tx) => Op<unknown>> = {
    'a task by id': (tx) => tx.task.get('a'),
    'a task by its number': (tx) => tx.task.getBySeq(1),
    'a task by its key': (tx) => tx.task.getByKey('k'),
    'tasks by the beginning of their ids': (tx) => tx.task.findByPrefix('a', 2),
    'ready heads': (tx) => tx.task.ready('x', '', 10),
    'whether anybody is awake': (tx) => tx.task.anyAwake(['nobody']),
    'whether anybody of several executors is awake': (tx) => tx.task.anyAwake(['nobody', 'no one']),
    'lanes of an executor': (tx) => tx.task.lanes('x'),
    'its first lanes': (tx) => tx.task.lanes('x', 10),
    'open runs of a lane': (tx) => tx.task.openInLane('a'),
    'the best task to claim': (tx) => tx.task.claimable({ role: 'writer', parentId: 'a', tags: ['t'] }),
    'the best task for somebody below a task': (tx) => tx.task.claimable({ owner: 'ann', below: 'a' }),
    'a board': (tx) => tx.board.get('main'),
    'a task by its number on a board': (tx) => tx.board.entry('main', 1),
    'the number of a task': (tx) => tx.board.entryOf('main', 'a'),
    'a page of a board': (tx) => tx.board.page('main', 0, 10),
    'the edges of a board': (tx) => tx.board.edges('main'),
    'who comes after a task of a board': (tx) => tx.board.dependentsOf('main', 'a'),
    'what a task of a board comes after': (tx) => tx.board.blockersOf('main', 'b'),
    'tasks without a number': (tx) => tx.board.unnumbered('main', 0, null, 10),
    'tasks without a number below one': (tx) => tx.board.unnumbered('main', 0, 'a', 10),
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
    'tasks of some states': (tx) => tx.task.list({ statuses: ['working'] }, 10),
    'children in pages': (tx) => tx.task.list({ parentId: 'a' }, 10),
    'tasks of a plan': (tx) => tx.task.list({ keyPrefix: 'k' }, 10),
    'due tasks': (tx) => tx.task.due(1, 10),
    'the next timer': (tx) => tx.task.nextDue(),
    'due runs': (tx) => tx.run.due(1, 10),
    'the next end of a run': (tx) => tx.run.nextDue(),
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
    'saving a task': (tx) => tx.task.save({ ...taskRow({ id: 'a' }), seq: 1 }),
    'saving a run': (tx) => tx.run.save(runRow({ taskId: 'a' })),
    'saving a call': (tx) => tx.call.save(callRow({ id: 'c', taskId: 'a' })),
    'closing waits': (tx) => tx.dependency.satisfyWaits('w', 1),
    'closing an edge': (tx) => tx.dependency.satisfy(edgeRow({ taskId: 'b', blockerId: 'a' }), 1),
    'appending a message': (tx) => tx.message.append(messageRow({ id: 'new', taskId: 'a' })),
    'adding an edge': (tx) => tx.dependency.insert(edgeRow({ taskId: 'a', blockerId: 'b' })),
  }

  it.each(Object.keys(hot))('%s', async (title) => {
    const { connection, tx, drive } = await setup()
    drive(tx.task.insert(taskRow({ id: 'a', key: 'k', group: true })))
    drive(tx.task.insert(taskRow({ id: 'b', parentId: 'a' })))
    drive(tx.run.insert(runRow({ taskId: 'a' })))
    drive(tx.call.insert(callRow({ id: 'c', taskId: 'a' })))
    drive(tx.dependency.insert(edgeRow({ taskId: 'b', blockerId: 'a' })))
    const seen: Request[] = []
    drive((hot[title] as (tx: Tx) => Op<unknown>)(tx), seen)
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.flatMap((request) => scansOf(connection, request))).toEqual([])
  })

  it('a statement that does walk through a table would be found', async () => {
    const { connection } = await setup()
    for (const sql of [`select * from task where name = 'x'`, 'select * from event where at > 1']) {
      expect(scansOf(connection, { sql, parameters: [], want: 'rows' })).toHaveLength(1)
    }
  })

  it('1,000 tasks with 100 messages each are listed and loaded within two seconds (X-016)', async () => {
    const { connection, tx, drive } = await setup()
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
