// The columns of the task table, by the statement that writes them, and SQL about tasks that several tables use.

import { unreadableValue } from '../damaged-columns.ts'
import { type Dialect, listed, type RawSql, type StatementCompiler, sql } from '../statement.ts'
import { defineTable, flag, json, jsonOrNull, ofKey, ofTask, plain, type StandIns, serial } from '../table-mapping.ts'

/** What `save` writes: everything that changes while a task lives. */
export const stateFields = {
  status: plain,
  statusReason: plain,
  ready: flag,
  claimable: flag,
  held: flag,
  result: json,
  error: jsonOrNull,
  owner: plain,
  fence: plain,
  leaseMs: plain,
  leaseUntil: plain,
  generation: plain,
  attempt: plain,
  run: plain,
  runOpen: flag,
  openBlockers: plain,
  wakes: plain,
  crashes: plain,
  notBefore: plain,
  deadline: plain,
  snapshot: plain,
  updatedAt: plain,
  startedAt: plain,
  completedAt: plain,
}

/** What `saveDefinition` writes: the definition of the task. */
export const definitionFields = {
  name: plain,
  goal: plain,
  description: plain,
  executor: plain,
  input: json,
  priority: plain,
  parentId: plain,
  lane: plain,
  depth: plain,
  role: plain,
  tags: json,
  policy: json,
  metadata: json,
  deletedAt: plain,
  createdBy: plain,
  mayRunCommands: flag,
}

/**
 * `unreadable` is shown to people; the replacements of fields that are judged are harmless. Admission fails a task with any of them
 * (operations/steps/admit.ts).
 */
const standIns: StandIns = {
  input: { fits: () => true, of: unreadableValue },
  result: { fits: () => true, of: unreadableValue },
  metadata: { fits: isObject, of: unreadableValue },
  error: {
    fits: (value) =>
      value === null || (isObject(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string'),
    of: (text) => ({
      code: 'LEDGER_CORRUPT',
      message: 'The stored error cannot be read',
      details: unreadableValue(text),
    }),
  },
  progress: {
    fits: (value) => value === null || isProgress(value),
    of: () => ({ fraction: 0, note: null, at: 0 }),
  },
  policy: {
    fits: (value) => isObject(value) && (value['team'] === undefined || isObject(value['team'])),
    of: () => ({}),
  },
  tags: { fits: (value) => Array.isArray(value) && value.every((tag) => typeof tag === 'string'), of: () => [] },
}

function isProgress(value: unknown): boolean {
  if (!isObject(value)) return false
  const { fraction, note, at } = value
  return typeof fraction === 'number' && typeof at === 'number' && (note === null || typeof note === 'string')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const tasks = defineTable(
  'task',
  {
    seq: serial,
    id: ofTask,
    key: ofKey,
    group: flag,
    childCount: plain,
    madeBelow: plain,
    progress: jsonOrNull,
    version: plain,
    createdAt: plain,
    stuckBy: plain,
    forkedFrom: plain,
    principal: plain,
    system: flag,
    ...definitionFields,
    ...stateFields,
  },
  standIns,
)

/**
 * All tasks below one, at any depth, as the head of a statement. UNION, not UNION ALL, so that a cycle of parents, which errand never
 * writes, ends instead of looping. CROSS JOIN, because SQLite may begin with all tasks where ANALYZE has run.
 */
export const withBelow = (root: unknown) => sql`with recursive below (id) as (
    select id from task where parent_id = ${root}
    union select task.id from below cross join task where task.parent_id = below.id)`

/**
 * The ids of the tasks in the trees whose root has one of these keys, or a key with one of these prefixes, both JSON lists of texts. Reads
 * these trees and nothing else.
 */
export function idsInTrees(dialect: Dialect, keys: unknown, prefixes: unknown): RawSql {
  return sql`(with recursive inside (id) as (
      select task.id from ${listed(dialect, keys)} as root cross join task
        where task.parent_id is null and task.key = root.value
      union select task.id from ${listed(dialect, prefixes)} as prefix cross join task
        where task.parent_id is null and task.key >= prefix.value and task.key < prefix.value || ${'\u{10ffff}'}
      union select task.id from inside cross join task where task.parent_id = inside.id)
    select id from inside)`
}

/** How many tasks are below one, counted up to `limit`. */
export function countOfBelow({ prepareText }: StatementCompiler, limit: number) {
  return prepareText(
    'claimable',
    (hole) => sql`${withBelow(hole('root'))}
      select count(*) as tasks from (select 1 from below limit ${limit}) as counted`,
  )
}

/** SQLite parses only tags in whose text the tag appears at all: a claim may compare those of all claimable tasks. */
export function hasTag({ kind }: Dialect, tag: string) {
  return kind === 'postgres'
    ? sql<boolean>`(tags::jsonb ? ${tag})`
    : sql<boolean>`instr(tags, ${JSON.stringify(tag)}) > 0
        and exists (select 1 from json_each(case when json_valid(tags) then tags else '[]' end) as entry where entry.value = ${tag})`
}

const isReleased = sql`coalesce(task.status_reason, '') in ('interrupted', 'released')`

/**
 * Tasks that people see as queued while their last run is still ending. The column `ready` excludes them, because no engine may start them
 * before that run is closed. This repeats `isQueued` of machines/readiness.ts in SQL; the contract compares the two.
 */
export const isQueuedBehindItsRun = sql<boolean>`(task.run_open = 1 and task.executor is not null and task.held = 0
  and task.open_blockers = 0 and task.not_before is null and task.deleted_at is null and (task.status in ('submitted', 'paused')
    or (task.status = 'input_required' and task.wakes > 0)
    or (task.status = 'waiting' and (task.wakes > 0 or ${isReleased}))))`

/** Found through the open runs, which are few however many tasks there are. CROSS JOIN forces that order in SQLite. */
export function countQueuedBehindRuns({ prepareText }: StatementCompiler) {
  return prepareText(
    () => sql`select count(*) as tasks from run cross join task
      where task.id = run.task_id and run.status <> 'closed' and task.system = 0 and ${isQueuedBehindItsRun}`,
  )
}
