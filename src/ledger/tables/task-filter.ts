// The conditions of a task filter, in the SQL of either dialect.
import type { TaskStatus } from '../../entities/task.ts'
import type { TaskFilter } from '../ledger.ts'
import { among, type Dialect, type RawSql, sql } from '../statement.ts'
import { hasTag, isQueuedBehindItsRun } from './task-columns.ts'

/** The conditions on a row by itself; `words` and `below` are matched apart (task-list-matches.ts). */
export function conditionsOf(dialect: Dialect, filter: TaskFilter): RawSql[] {
  const { statuses, parentId, executor, keyPrefix, owner, ready, released, failedWith, type, ids } = filter
  return [
    sql`deleted_at is null`,
    ...systemConditions(filter),
    ...(statuses === undefined ? [] : [isOneOf(statuses)]),
    ...(parentId === undefined ? [] : [parentId === null ? sql`parent_id is null` : sql`parent_id = ${parentId}`]),
    ...(executor === undefined ? [] : [sql`executor = ${executor}`]),
    ...(keyPrefix === undefined ? [] : [beginsWith(keyPrefix)]),
    ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
    ...(ready === undefined ? [] : [isReady(ready)]),
    ...(released === undefined ? [] : [isReleased(released)]),
    ...(failedWith === undefined ? [] : [failedBecause(dialect, failedWith)]),
    ...(filter.failedCode === undefined ? [] : [failedWithCode(dialect, filter.failedCode)]),
    ...(filter.endedFrom === undefined ? [] : [sql`${endedAt} >= ${filter.endedFrom}`]),
    ...(filter.endedBefore === undefined ? [] : [sql`${endedAt} < ${filter.endedBefore}`]),
    ...(type === undefined ? [] : [hasType(type)]),
    ...(ids === undefined ? [] : [isAmong(dialect, ids)]),
    ...(filter.forkedFrom === undefined ? [] : [sql`forked_from = ${filter.forkedFrom}`]),
    ...(filter.principal === undefined ? [] : [sql`principal = ${filter.principal}`]),
    ...(filter.forked === undefined ? [] : [hasFork(filter.forked)]),
    ...(filter.createdFrom === undefined ? [] : [sql`created_at >= ${filter.createdFrom}`]),
    ...(filter.createdTo === undefined ? [] : [sql`created_at <= ${filter.createdTo}`]),
    ...Object.entries(filter.metadata ?? {}).map(([name, value]) => metadataEquals(dialect, name, value)),
    ...(filter.tags ?? []).map((tag) => hasTag(dialect, tag)),
  ]
}

/** System tasks are left out unless the filter asks for them, or names tasks. */
function systemConditions({ system, ids, parentId, below }: TaskFilter): RawSql[] {
  const isNamed = ids !== undefined || typeof parentId === 'string' || below !== undefined
  if (system === 'include' || (system === undefined && isNamed)) return []
  return [system === true ? sql`system = 1` : sql`system = 0`]
}

// PostgreSQL has no empty list.
export function isOneOf(statuses: readonly TaskStatus[]): RawSql {
  return statuses.length === 0 ? sql`1 = 0` : sql`status in (${sql.join([...statuses])})`
}

export function isAmong(dialect: Dialect, ids: readonly string[]): RawSql {
  return ids.length === 0 ? sql`1 = 0` : sql`task.id ${among(dialect, JSON.stringify(ids))}`
}

export function beginsWith(prefix: string): RawSql {
  return sql`key >= ${prefix} and key < ${`${prefix}\u{10ffff}`}`
}

function isReady(expected: boolean): RawSql {
  const isQueued = sql`(ready = 1 or claimable = 1 or ${isQueuedBehindItsRun})`
  return expected ? isQueued : sql`not ${isQueued}`
}

function hasType(type: string): RawSql {
  return sql`exists (select 1 from team where team.task_id = task.id and team.type = ${type})`
}

function hasFork(expected: boolean): RawSql {
  const fork = sql`exists (select 1 from task as fork where fork.forked_from = task.id and fork.deleted_at is null)`
  return expected ? fork : sql`not ${fork}`
}

function isReleased(expected: boolean): RawSql {
  const reasons = sql`('interrupted', 'released')`
  return expected
    ? sql`(status <> 'waiting' or status_reason in ${reasons})`
    : sql`(status <> 'waiting' or status_reason is null or status_reason not in ${reasons})`
}

function failedBecause(dialect: Dialect, message: string): RawSql {
  return dialect.kind === 'postgres'
    ? sql`(status <> 'failed' or (error::jsonb ->> 'message') = ${message})`
    : sql`(status <> 'failed' or case when json_valid(error) then json_extract(error, '$.message') end = ${message})`
}

/** Of an open task its creation. */
const endedAt = sql`coalesce(completed_at, created_at)`

function failedWithCode(dialect: Dialect, code: string): RawSql {
  return dialect.kind === 'postgres'
    ? sql`(status = 'failed' and (error::jsonb ->> 'code') = ${code})`
    : sql`(status = 'failed' and case when json_valid(error) then json_extract(error, '$.code') end = ${code})`
}

/** The name is a bound value in both databases, never part of the text. */
function metadataEquals(dialect: Dialect, name: string, value: unknown): RawSql {
  return dialect.kind === 'postgres'
    ? sql`(metadata::jsonb -> ${name}) = ${JSON.stringify(value)}::jsonb`
    : sql`exists (select 1 from json_each(case when json_valid(metadata) then metadata else '{}' end) as entry where entry.key = ${name} and entry.type in (${sql.join(jsonTypes(value))}) and (entry.value is ${value === null ? null : typeof value === 'boolean' ? Number(value) : value}))`
}

/** SQLite's names of the type of a JSON value. A whole number may have either: 1e21 is a real. */
function jsonTypes(value: unknown): string[] {
  if (value === null) return ['null']
  if (typeof value === 'boolean') return [String(value)]
  return typeof value === 'number' ? ['integer', 'real'] : ['text']
}
