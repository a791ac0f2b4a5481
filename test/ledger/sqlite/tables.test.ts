// The tables of a migrated ledger: their enumerations are those of the machines and entities, they refuse invalid writes of other
// programs, and tasks are found at once among many (query-plans.test.ts reads the plan of every statement).
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
import { callEdges, openCallStatuses } from '../../../src/machines/call-machine.ts'
import { runEdges } from '../../../src/machines/run-machine.ts'
import { taskEdges } from '../../../src/machines/task-table.ts'
import {
  callRow,
  consolidationRow,
  decisionRow,
  eventRow,
  factRow,
  messageRow,
  observationRow,
  taskRow,
} from '../factories.ts'
import { migrated } from './migrated.ts'

describe('the enumerations in the tables', () => {
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
    ['task', 'status', 0, Object.keys(taskEdges)],
    ['task', 'status', 1, settled],
    ['task_stays_terminal', 'status', 0, taskStatuses.filter(isTerminal)],
    ['task_stays_terminal', 'status', 0, taskStatuses.filter((status) => Object.keys(taskEdges[status]).length === 0)],
    ['dependency', 'kind', 0, dependencyKinds],
    ['run', 'status', 0, Object.keys(runEdges)],
    ['run', 'status', 0, runStatuses],
    ['run', 'outcome', 0, runOutcomes],
    ['call', 'kind', 0, callKinds],
    ['call', 'status', 0, Object.keys(callEdges)],
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

  it.each(lists)('the enumeration %s.%s (%i) in the ledger matches the code', async (name, column, nth, words) => {
    const { rows } = await migrated()
    const text = rows('select name, sql from sqlite_schema').find((object) => object['name'] === name)?.['sql']
    expect(drift(listsIn(text ?? '', column)[nth], words)).toBe(null)
  })

  it('the comparison of enumerations finds a surplus word, a missing word and a missing list', async () => {
    expect(drift(['a', 'b', 'c'], ['a', 'b'])).toContain('surplus: c')
    expect(drift(['a'], ['a', 'b'])).toContain('missing: b')
    expect(drift(listsIn('status text', 'status')[0], ['a'])).toContain('no such list')
    expect(listsIn(`"status" in ('a', 'b') and new.status in ('c')`, 'status')).toEqual([['a', 'b'], ['c']])
  })

  it('the triggers of the ledger forbid the transitions of calls that the machine does not have', async () => {
    const allowed = (name: 'task' | 'call', from: string, to: string): boolean => {
      const table: Record<string, object> = name === 'task' ? taskEdges : callEdges
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
    // Two differences: the ledger forbids writing an outcome twice, and allows skipping `in_progress`.
    const byMachine = callStatuses.flatMap((from) =>
      callStatuses.filter((to) => !allowed('call', from, to)).map((to) => `${from} ${to}`),
    )
    expect(byMachine.filter((edge) => !forbidden.includes(edge))).toEqual(['pending completed'])
    expect(forbidden.filter((edge) => !byMachine.includes(edge))).toEqual(['completed completed', 'failed failed'])
  })
})

describe('a write of another program', () => {
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

  it.each(attempts)('the ledger refuses a write of another program: %s', async (_title, sql, reason) => {
    const { connection, rows } = await withRows()
    const tables = ['task', 'call', 'message', 'event', 'observation', 'fact', 'consolidation', 'decision', 'branch']
    const before = tables.map((table) => rows(`select * from ${table}`))
    expect(() => connection.execute(sql)).toThrow(reason)
    expect(tables.map((table) => rows(`select * from ${table}`))).toEqual(before)
  })

  it('every table of the ledger is STRICT except the full-text index', async () => {
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
      'purging',
      'run',
      'schedule',
      'setting',
      'signal',
      'stint',
      'task',
      'team',
    ])
    expect(tables.every((table) => Number(table['strict']) === 1)).toBe(true)
  })
})
