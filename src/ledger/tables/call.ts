// The call table: the journal of every task. A trigger refuses the change of an outcome.

import { jsonObject } from '../../core/json.ts'
import { clipped } from '../../core/storable-text.ts'
import type { CallRecord } from '../../entities/call.ts'
import { audiences, type QuestionParams } from '../../entities/question.ts'
import type { TeamPlace } from '../../entities/team.ts'
import { callStatusesBefore, openCallStatuses } from '../../machines/call-machine.ts'
import { unreadableValue } from '../damaged-columns.ts'
import type { CallOutcome, LiveTask, Tx } from '../ledger.ts'
import { change, numberOf, pageOf, row, rows, type StatementCompiler, sql } from '../statement.ts'
import {
  defineTable,
  json,
  jsonOrNull,
  ofCall,
  ofTask,
  plain,
  type StandIns,
  serial,
  statementsOf,
} from '../table-mapping.ts'
import { generations } from './run.ts'

/** What `save` writes. */
const outcomeFields = {
  status: plain,
  details: json,
  result: json,
  resultLost: plain,
  error: jsonOrNull,
  startMessageId: plain,
  endMessageId: plain,
  dueAt: plain,
  updatedAt: plain,
}

/**
 * Lists of tasks show their open questions, and one that cannot be read must not break them: it is shown as unreadable, to people only. The
 * outcome of an ended call goes back into its run and has no replacement.
 */
const standIns: StandIns = {
  params: {
    fits: (value, { kind }) => kind !== 'ask' || isQuestion(value),
    of: (text, { kind }) =>
      kind === 'ask' ? { question: unreadableQuestion(text), schema: null, for: 'person' } : undefined,
  },
  result: { fits: () => true, of: (text, row) => (isOpen(row) ? unreadableValue(text) : undefined) },
  details: { fits: () => true, of: (text, row) => (isOpen(row) ? unreadableValue(text) : undefined) },
}

function isQuestion(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { question, for: audience } = value as QuestionParams
  return typeof question === 'string' && audiences.includes(audience)
}

function unreadableQuestion(text: string): string {
  return `This question cannot be read. In the ledger stands: ${clipped(text, 200)}`
}

function isOpen({ status }: Readonly<Record<string, unknown>>): boolean {
  return openCallStatuses.includes(status as CallRecord['status'])
}

export const calls = defineTable(
  'call',
  {
    seq: serial,
    id: ofCall,
    taskId: ofTask,
    run: plain,
    generation: plain,
    attempt: plain,
    kind: plain,
    name: plain,
    ident: plain,
    ordinal: plain,
    params: json,
    onInterrupt: plain,
    parentId: plain,
    createdAt: plain,
    ...outcomeFields,
  },
  standIns,
)

const literals = (statuses: readonly string[]) => sql.join(statuses.map((status) => sql.lit(status)))
const open = sql<boolean>`status in (${literals(openCallStatuses)})`

export function createCallTable(compiler: StatementCompiler): Tx['call'] {
  const { prepareText } = compiler
  const { selectRow, select, inserts, saves } = statementsOf(compiler, calls)
  const selectById = selectRow('id')
  const selectOfTask = select((call, hole) => call.where('task_id', '=', hole('task', ofTask)).orderBy('seq', 'asc'))
  // The condition of its partial index is part of the text, because the planner uses the index only then.
  const selectOfGeneration = select((call, hole) =>
    call
      .where('task_id', '=', hole('task', ofTask))
      .where('generation', '=', hole('generation'))
      .where(sql<boolean>`generation > 1`)
      .orderBy('seq', 'asc'),
  )
  const selectSince = select((call, hole) =>
    call.where('task_id', '=', hole('task', ofTask)).where('seq', '>=', hole('seq')).orderBy('seq', 'asc'),
  )
  const selectOpen = select((call, hole) =>
    call.where('task_id', '=', hole('task', ofTask)).where(open).orderBy('seq', 'asc'),
  )
  const selectDue = select('overdue', (call, hole) =>
    call
      .where('due_at', 'is not', null)
      .where('due_at', '<=', hole('now'))
      .orderBy('due_at', 'asc')
      .limit(hole('limit')),
  )
  const lastSeq = prepareText(
    (hole) => sql`select coalesce(max(seq), 0) as n from call where task_id = ${hole('task', ofTask)}`,
  )
  const { selectLiveTask, updateEnded } = liveStatements(compiler)

  return {
    get: (id) => calls.one(selectById, { id }),
    *liveTask(id, run) {
      const found = yield* row<StoredTask>(selectLiveTask, { id, run })
      return found && liveTaskOf(id, run, found)
    },
    *list(task, kinds) {
      const found = yield* calls.list(selectOfTask, { task })
      return kinds ? found.filter((call) => kinds.includes(call.kind)) : found
    },
    *ofGeneration(task, generation) {
      if (generation > 1) return yield* calls.list(selectOfGeneration, { task, generation })
      return (yield* calls.list(selectOfTask, { task })).filter((call) => call.generation === generation)
    },
    page: pages(compiler),
    *since(task, seq, kinds) {
      const found = yield* rows<CallRecord>(selectSince, { task, seq })
      return found.filter(({ kind }) => kinds.includes(kind)).map(calls.read)
    },
    lastSeq: (task) => numberOf(lastSeq, { task }),
    open: (task) => calls.list(selectOpen, { task }),
    due: (now, limit) => calls.list(selectDue, { now, limit }),
    insert: inserts(['id'], 'tasks'),
    save: saves(outcomeFields, ['id']),
    *end(call) {
      return (yield* change(updateEnded[call.status], call)) > 0
    },
  }
}

/** Calls of a page, of one generation or of all. */
function pages(compiler: StatementCompiler): Tx['call']['page'] {
  const { prepareText } = compiler
  const { select } = statementsOf(compiler, calls)
  const sizesOfPage = prepareText(
    (hole) => sql`select octet_length(params) + octet_length(result) + octet_length(details) as bytes from call
      where task_id = ${hole('task', ofTask)} and kind = 'call' and seq > ${hole('after')}
        and generation between ${hole('from')} and ${hole('to')} order by seq limit ${hole('limit')}`,
  )
  const selectPage = select((call, hole) =>
    call
      .where('task_id', '=', hole('task', ofTask))
      .where(sql<boolean>`kind = 'call'`)
      .where('seq', '>', hole('after'))
      .where('generation', '>=', hole('from'))
      .where('generation', '<=', hole('to'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  return (task, after, limit, generation) => {
    const values = { task, after, ...generations(generation) }
    return pageOf(sizesOfPage, { ...values, limit }, (fit) => calls.list(selectPage, { ...values, limit: fit }))
  }
}

interface StoredTask {
  taskName: string
  policy: string
}

/**
 * Each call checks twice that its run is live, and its events name the task: this reads two columns, and not the row of the task with its
 * fifty. Its outcome is written without reading the call, if its state is one from which its machine leads to that outcome.
 */
function liveStatements({ prepareText }: StatementCompiler) {
  const selectLiveTask = prepareText(
    (hole) => sql`select name as "taskName", policy from task
      where id = ${hole('id', ofTask)} and run = ${hole('run')} and status = 'working'`,
  )
  const ending = (status: CallOutcome['status']) =>
    prepareText(
      { changes: 'call' },
      (hole) => sql`update call
      set status = ${hole('status')}, result = ${hole('result', json)}, result_lost = ${hole('resultLost')}, error = ${hole('error', jsonOrNull)},
        updated_at = ${hole('updatedAt')}
      where id = ${hole('id')} and task_id = ${hole('taskId', ofTask)} and kind = 'call'
        and status in (${literals(callStatusesBefore(status))}) and start_message_id is null`,
    )
  return { selectLiveTask, updateEnded: { completed: ending('completed'), failed: ending('failed') } }
}

function liveTaskOf(id: string, run: number, { taskName: name, policy }: StoredTask): LiveTask {
  return { id, run, name, status: 'working', policy: policy === '{}' ? noPolicy : { team: teamIn(policy) } }
}

const noPolicy: LiveTask['policy'] = {}

/** A policy that cannot be read has no team, as in the whole row (task-columns.ts). */
function teamIn(policy: string): LiveTask['policy']['team'] {
  const team = jsonObject(policy)?.['team']
  return typeof team === 'object' && team !== null && !Array.isArray(team) ? (team as TeamPlace) : undefined
}
