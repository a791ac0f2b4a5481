// The rules of the divergence guard, pure: whether a call that is not in the journal may be made while recorded completed work has
// not been replayed, how long it is held back, and how the refusal is explained.

import { ErrandError } from '../core/errors.ts'
import { canonicalJson } from '../core/json.ts'
import { clipped } from '../core/storable-text.ts'
import { type CallRecord, identOf } from '../entities/call.ts'
import type { OnInterrupt } from '../entities/task-fields.ts'

/** `allow`: a new call is made although recorded work has not been replayed, and an event records it. */
export type Divergence = 'allow'

/** How long a run may make no request before a call that is held back is refused. */
export const defaultDivergenceWaitMs = 10_000

/** The idle time is counted in this number of ticks, so that a blocked event loop counts as one tick. */
export const divergenceTicks = 20

/** True for completed work that must not be silently repeated. Saved calls (attempt 0) belong to other programs. */
export function holdsBack(entry: Pick<CallRecord, 'kind' | 'status' | 'onInterrupt' | 'attempt'>): boolean {
  return (
    (entry.kind === 'call' || entry.kind === 'spawn') &&
    entry.status === 'completed' &&
    entry.onInterrupt !== 'rerun' &&
    entry.attempt > 0
  )
}

/** Whether a newer try of an entry may send the run another way than the earlier one, because its outcome may differ. */
export function isAnotherWay(
  earlier: Pick<CallRecord, 'kind' | 'status' | 'result'>,
  later: Pick<CallRecord, 'result'>,
): boolean {
  if (earlier.status !== 'completed') return true
  // A wait is repeated only when one of its tasks failed, and a spawn only when a child failed or was canceled.
  return earlier.kind === 'wait' || canonicalJson(earlier.result) !== canonicalJson(later.result)
}

/** When `failed` is repeated, entries that earlier attempts recorded after its failure may have been a workaround for it. */
export function isExcusedBy(
  failed: Pick<CallRecord, 'seq' | 'updatedAt'>,
  entry: Pick<CallRecord, 'seq' | 'createdAt' | 'attempt'>,
  attempt: number,
): boolean {
  return entry.attempt < attempt && entry.seq > failed.seq && entry.createdAt >= failed.updatedAt
}

export interface NewWork {
  /** The journal has an entry for it, with any outcome. */
  known: boolean
  onInterrupt: OnInterrupt
  divergence: Divergence | undefined
  /** Completed entries have not been replayed, and hold new calls back. */
  standing: boolean
  /** Other entries have not been replayed: excused ones, or equal ones inside a call that is not repeated. */
  excused: boolean
}

/** `report`: the call is made, and an event records what has not been replayed. */
export function verdictOn({ known, onInterrupt, divergence, standing, excused }: NewWork): 'make' | 'hold' | 'report' {
  if (known || onInterrupt === 'rerun') return 'make'
  if (standing) return divergence === 'allow' ? 'report' : 'hold'
  return excused ? 'report' : 'make'
}

export interface Tick {
  /** The run has made a request since the last tick. */
  asked: boolean
  /** Something of the run was in flight, or a wait open, since the last tick. */
  busy: boolean
}

/** Ticks without a request of the run. The count does not change while something of the run is in flight. */
export function quietTicksAfter(quiet: number, { asked, busy }: Tick): number {
  if (asked) return 0
  return busy ? quiet : quiet + 1
}

// ── how a refusal is explained ──

export interface AskedCall {
  taskId: string
  run: number
  kind: 'call' | 'spawn'
  name: string
  ident: string
  params: unknown
}

type Recorded = Pick<CallRecord, 'id' | 'kind' | 'name' | 'ident' | 'params'>

/** Entries named in an error or an event; the others are only counted. */
const maxNamed = 10
/** Entries that are compared, because there may be many with large params. */
const maxCompared = 200
const maxDifferences = 5

/** The error of a call that was held back in vain. `unasked` is not empty and in journal order. */
export function callDiverged(asked: AskedCall, unasked: readonly Recorded[]): ErrandError {
  const { taskId, run, kind, name } = asked
  const what = kind === 'spawn' ? 'run.spawn' : `The call "${name}"`
  const difference = differenceOf(asked, unasked)
  return new ErrandError(
    'CALL_DIVERGED',
    `${what} was not made in run ${run} of ${taskId}: it is not in the journal, and work that earlier runs completed has not been asked for again: ${named(unasked)}. ${difference.text}` +
      "Calls are identified by their params: take volatile values from run.now(), run.uuid() or run.random() (with a `key` where calls run in parallel), or give the call a `key`. If it is new work, set divergence: 'allow' on the call, on the executor, or when the task is retried.",
    {
      taskId,
      run,
      call: name,
      unasked: unasked.slice(0, maxNamed).map((entry) => ({ callId: entry.id, kind: entry.kind, name: entry.name })),
      unaskedCount: unasked.length,
      ...difference.details,
    },
  )
}

/** The data of the event for a new entry and the completed ones that have not been replayed. */
export function divergenceMessage(
  made: Pick<CallRecord, 'id' | 'kind' | 'name'>,
  left: readonly Pick<CallRecord, 'kind' | 'name'>[],
): Record<string, unknown> {
  return {
    callId: made.id,
    call: made.name,
    entries: left.slice(0, maxNamed).map((entry) => `${entry.kind} ${entry.name}`),
    unasked: left.length,
  }
}

function named(unasked: readonly Recorded[]): string {
  const names = unasked.slice(0, maxNamed).map((entry) => `${entry.kind} "${entry.name}" (${entry.id})`)
  const more = unasked.length - names.length
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`
}

interface Explanation {
  text: string
  details?: Record<string, unknown>
}

function differenceOf(asked: AskedCall, unasked: readonly Recorded[]): Explanation {
  const compared = unasked.slice(0, maxCompared)
  const nearest = nearestOf(asked, compared)
  if (nearest !== undefined) {
    const { entry, differences } = nearest
    const shown = differences.slice(0, maxDifferences)
    const text =
      shown.length === 0
        ? keysDiffer(asked, entry)
        : shown.map(({ path, was, now }) => `\`${path}\` was ${was}, now ${now}`).join('; ')
    return { text: `${text}. `, details: { nearest: entry.id, differences: shown } }
  }
  const renamed = compared.find((entry) => entry.kind === asked.kind && isSameWork(asked, entry))
  if (renamed === undefined) return { text: '' }
  return {
    text: `\`${renamed.name}\` was recorded with these params; the run now asks for \`${asked.name}\`. `,
    details: { nearest: renamed.id },
  }
}

function isSameWork(asked: AskedCall, entry: Recorded): boolean {
  if (entry.ident === asked.ident) return true
  // Without a key the params are the identity.
  if (!isKeyed(asked) && !isKeyed(entry)) return false
  return canonicalJson(entry.params ?? null) === canonicalJson(asked.params ?? null)
}

function isKeyed({ ident }: { ident: string }): boolean {
  return ident.startsWith('k')
}

/** The entry of the same name whose params differ least. */
function nearestOf(
  asked: AskedCall,
  unasked: readonly Recorded[],
): { entry: Recorded; differences: Difference[] } | undefined {
  let nearest: { entry: Recorded; differences: Difference[] } | undefined
  for (const entry of unasked) {
    if (entry.kind !== asked.kind || entry.name !== asked.name) continue
    const differences = differencesOf(entry.params, asked.params)
    if (nearest === undefined || differences.length < nearest.differences.length) nearest = { entry, differences }
  }
  return nearest
}

/** The params are equal, so the keys differ. */
function keysDiffer(asked: AskedCall, entry: Recorded): string {
  return `The params are the same, but ${keyOf(entry)} then and ${keyOf(asked)} now`
}

function keyOf({ ident, params }: { ident: string; params: unknown }): string {
  if (ident === identOf(undefined, params)) return 'it had no key'
  return ident.startsWith('k:') ? `the key was ${shown(ident.slice(2))}` : 'it had another key'
}

export interface Difference {
  path: string
  was: string
  now: string
}

/** Further differences are not counted. */
const maxCounted = 50

/** Where two JSON values differ, by their paths. */
export function differencesOf(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = []
  compare(before ?? null, after ?? null, '', found)
  return found
}

function compare(before: unknown, after: unknown, path: string, found: Difference[]): void {
  if (found.length >= maxCounted || Object.is(before, after)) return
  const inside = keysOf(before, after)
  if (inside === undefined) {
    found.push({ path: path === '' ? 'params' : path, was: shown(before), now: shown(after) })
    return
  }
  for (const key of inside) {
    const below = Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    compare((before as Record<string, unknown>)[key], (after as Record<string, unknown>)[key], below, found)
  }
}

/** The keys of two objects, or of two arrays; undefined when the values are of different kinds. */
function keysOf(before: unknown, after: unknown): Iterable<string> | undefined {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return undefined
  if (Array.isArray(before) !== Array.isArray(after)) return undefined
  return new Set([...Object.keys(before), ...Object.keys(after)])
}

const maxShownLength = 80

function shown(value: unknown): string {
  if (value === undefined) return 'not given'
  const text = JSON.stringify(value)
  return clipped(text, maxShownLength + 1)
}
