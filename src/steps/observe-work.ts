// What the agent of a team does becomes what it has observed: each call that its model asked for, each answer. Written in the
// transaction that records the outcome, under an id that follows from it, so that none is missing and none is there twice.

import { clipped, storableText } from '../core/storable-text.ts'
import type { CallRecord } from '../entities/call.ts'
import type { ObservationRecord } from '../entities/memory.ts'
import type { SourceKind } from '../entities/source.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { StintRecord } from '../entities/team.ts'
import type { NewMessage, Op, Reads, Tx } from '../ledger/ledger.ts'
import { sourceIn } from './source.ts'
import type { StepContext } from './step-context.ts'

/** Characters. The whole stands in the calls and in the conversation of the task. */
const longest = { call: 2_000, outcome: 500, answer: 10_000 }

/** A call has ended, or was broken off. One that no model asked for, or that was never begun, is nothing that an agent did. */
export function* observeCall(tx: Tx, task: TaskRecord, call: CallRecord, ctx: StepContext): Op<void> {
  const isTheModels = call.kind === 'call' && call.startMessageId !== null
  if (task.policy.team === undefined || !isTheModels) return
  yield* observe(tx, task, callObserved(call), ctx)
}

/** A step of the model without calls is what the agent has found. */
export function* observeAnswer(tx: Tx, task: TaskRecord, message: NewMessage, ctx: StepContext): Op<void> {
  const isAnswer = message.step !== null && message.step.calls.length === 0 && message.content.trim() !== ''
  if (task.policy.team === undefined || !isAnswer) return
  yield* observe(tx, task, answerObserved(message.id, message.content), ctx)
}

export interface Observed extends Pick<ObservationRecord, 'id' | 'type' | 'content' | 'outcome'> {
  /** What a call came to is said by its tool, an answer by the model. */
  by: Extract<SourceKind, 'model' | 'tool'>
}

/** What a call that has ended is as an observation, whenever it is made. */
export function callObserved({ id, name, params, result, error }: CallRecord): Observed {
  const what = error === null ? textOf(result) : error.message
  return toolObserved(id, `${name} ${textOf(params)}`, what, error !== null)
}

/** The use of a tool of which no more is known than these words. */
export function toolObserved(id: string, call: string, outcome: string, failed: boolean): Observed {
  const type = failed ? 'error' : 'tool_use'
  return { id: `obs-${id}`, type, content: cut(call, longest.call), outcome: cut(outcome, longest.outcome), by: 'tool' }
}

/** What an agent answered, as an observation. */
export function answerObserved(id: string, content: string): Observed {
  return { id: `obs-${id}`, type: 'insight', content: cut(content, longest.answer), outcome: null, by: 'model' }
}

function* observe(tx: Tx, task: TaskRecord, { by, ...observed }: Observed, { at }: StepContext): Op<void> {
  const stint = yield* stintOf(tx, task)
  if (stint === undefined) return
  // Closed by hand while the agent is at work: that is no reason to lose what the call came to.
  if ((yield* tx.branch.get(stint.branch))?.status === 'archived') return
  yield* tx.observation.insert({
    ...observed,
    sessionId: task.id,
    branch: stint.branch,
    taskId: stint.taskId,
    agentId: stint.agentId,
    statedBy: yield* sourceIn(tx, by, task.id),
    createdAt: at,
    consolidatedBy: null,
  })
}

/** The stint that the task works in; or the last one, for a call that ends when its agent has been completed already. */
function* stintOf(tx: Reads, task: TaskRecord): Op<StintRecord | undefined> {
  const active = yield* tx.team.stintOfWorker(task.id)
  const teamId = task.policy.team?.taskId
  if (active !== undefined || teamId === undefined) return active
  return (yield* tx.team.stints(teamId)).findLast(({ workerId }) => workerId === task.id)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

function cut(text: string, characters: number): string {
  return storableText(clipped(text, characters))
}
