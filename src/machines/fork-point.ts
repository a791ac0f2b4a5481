// Where a fork leaves its original: the entries and messages before that point are what the fork begins with. Pure.

import { ErrandError } from '../core/errors.ts'
import { type CallRecord, identOf } from '../entities/call.ts'
import { callKeyOf } from '../entities/conversation.ts'
import type { MessageRecord } from '../entities/message.ts'
import type { TaskRecord } from '../entities/task.ts'
import { openCallStatuses } from './call-machine.ts'
import { entryKeyOf } from './run-journal.ts'

/** What a task of one generation has recorded. */
export interface Recorded {
  task: Pick<TaskRecord, 'id' | 'status' | 'attempt'>
  /** In the order of creation. */
  entries: readonly CallRecord[]
  /** In order. */
  messages: readonly MessageRecord[]
}

/** A call or a model step that the fork makes itself, or the end of what was recorded. */
export type ForkPoint = { call: CallRecord } | { step: MessageRecord } | 'end'

/**
 * `at`: the id of a call, or of the message of a model step; `failure`: the last call that failed in the last attempt, of an agent the step
 * that its model did not take; the end if there is none. Default: `failure` of a failed task, else the last completed call, of an agent the
 * last step of its model.
 * @throws ErrandError NOT_FOUND for an unknown id; INVALID_INPUT for a call inside another call, and for a message that is no model step.
 */
export function forkPointOf(recorded: Recorded, at: string | undefined): ForkPoint {
  if (at !== undefined && at !== 'failure') return namedPoint(recorded, at)
  const { task, entries, messages } = recorded
  const failed = at === 'failure' || task.status === 'failed'
  const step = messages.findLast((message) => message.step !== null)
  if (step !== undefined) return failed ? 'end' : { step }
  const own = entries.filter(({ kind, parentId, attempt }) => kind === 'call' && parentId === null && attempt > 0)
  const failure = failed ? own.findLast((call) => isFailureOf(task, call)) : undefined
  const last = failure ?? (at === 'failure' ? undefined : own.findLast(({ status }) => status === 'completed'))
  return last === undefined ? 'end' : { call: last }
}

function isFailureOf({ attempt }: Recorded['task'], call: CallRecord): boolean {
  return call.status === 'failed' && call.attempt === attempt
}

function namedPoint({ task, entries, messages }: Recorded, at: string): ForkPoint {
  const step = messages.find(({ id }) => id === at)
  if (step !== undefined) {
    if (step.step !== null) return { step }
    throw refusal(at, 'it is not the answer of a model. Name such a message, or a call')
  }
  const call = entries.find(({ id, kind, attempt }) => id === at && kind === 'call' && attempt > 0)
  if (call === undefined) {
    throw new ErrandError(
      'NOT_FOUND',
      `${task.id} has no call and no message ${at} in its present generation. \`calls\` and \`messages\` list them.`,
      { at },
    )
  }
  if (call.parentId !== null) {
    throw refusal(at, `it was made inside the call ${call.parentId}, which is made again as a whole. Name that one`)
  }
  return { call }
}

function refusal(at: string, why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', `Cannot fork at ${at}: ${why}.`, { at })
}

/** The message whose model requested the call; undefined for a call of the executor's own code. */
function requestOf(call: Pick<CallRecord, 'ident'>, messages: readonly MessageRecord[]): MessageRecord | undefined {
  return requestsIn(messages).get(call.ident)
}

/**
 * What a fork takes over, in order: of each request that was made before the point the latest entry, if it has an outcome; and what was said
 * before the point. Calls that a model requested in a step that is taken over are kept without an outcome too.
 */
export function takenOver(recorded: Recorded, point: ForkPoint): { entries: CallRecord[]; messages: MessageRecord[] } {
  const isSaid = isBefore(recorded, point)
  const entries = entriesBefore(recorded, point, isSaid)
  const lines = new Set(entries.flatMap(({ startMessageId, endMessageId }) => [startMessageId, endMessageId]))
  const messages = recorded.messages.filter((message) =>
    message.announcement ? lines.has(message.id) : isSaid(message),
  )
  return { entries, messages }
}

function isBefore({ messages }: Recorded, point: ForkPoint): (message: MessageRecord) => boolean {
  if (point === 'end') return () => true
  if ('step' in point) return ({ n }) => n < point.step.n
  const request = requestOf(point.call, messages)
  // Messages and entries have no order in common besides their times. A message too many is found again by the run that says it.
  if (request === undefined) return ({ timestamp }) => timestamp <= point.call.createdAt
  return ({ n }) => n <= request.n
}

function entriesBefore(
  { entries, messages }: Recorded,
  point: ForkPoint,
  isSaid: (message: MessageRecord) => boolean,
): CallRecord[] {
  const requests = requestsIn(messages)
  const isAsked = (entry: CallRecord): boolean => {
    const request = requests.get(entry.ident)
    if (request !== undefined) return isSaid(request)
    if (point === 'end') return true
    return 'call' in point ? entry.seq < point.call.seq : entry.createdAt <= point.step.timestamp
  }
  const keys = new Map(entries.map((entry) => [entry.id, entryKeyOf(entry)]))
  const latest = new Map<string, CallRecord>()
  for (const entry of entries) if (entry.attempt > 0 && isAsked(entry)) latest.set(entryKeyOf(entry), entry)
  const kept = new Map<string, CallRecord>()
  for (const [key, entry] of latest) {
    const scope = entry.parentId === null ? undefined : keys.get(entry.parentId)
    const container = scope === undefined ? undefined : kept.get(scope)
    if (scope !== undefined && container === undefined) continue
    const isAgain = point !== 'end' && 'call' in point && point.call.id === entry.id
    if (requests.has(entry.ident)) kept.set(key, isAgain || isOpen(entry) ? unmade(entry) : entry)
    else if (!isAgain && !isOpen(entry)) kept.set(key, { ...entry, parentId: container?.id ?? null })
  }
  return [...kept.values()]
}

/** The messages by the identities of the calls that their models requested. */
function requestsIn(messages: readonly MessageRecord[]): Map<string, MessageRecord> {
  const steps = messages.filter(({ step }) => step !== null)
  return new Map(
    steps.flatMap((message) =>
      (message.step?.calls ?? []).map(
        (_asked, index) => [identOf(callKeyOf(message.id, index), null), message] as const,
      ),
    ),
  )
}

function isOpen({ status }: CallRecord): boolean {
  return openCallStatuses.includes(status)
}

/** The call as its model has requested it. */
function unmade(call: CallRecord): CallRecord {
  const outcome = { details: null, result: null, resultLost: null, error: null, dueAt: null }
  return { ...call, ...outcome, status: 'pending', startMessageId: null, endMessageId: null }
}
