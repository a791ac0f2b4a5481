// Records what the agent of a team does as observations: each call that its model requested, and each answer. They are written in the
// transaction that records the outcome, under an id derived from it, so that each is there exactly once.

import { clipped, storableText } from '../../core/storable-text.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { ObservationRecord } from '../../entities/memory.ts'
import type { SourceKind } from '../../entities/source.ts'
import type { StintRecord } from '../../entities/team.ts'
import type { NewMessage, Op, Reads, Tx } from '../../ledger/ledger.ts'
import { sourceIn } from '../../operations/steps/source.ts'
import type { EventTask, StepContext } from '../../operations/steps/step-context.ts'

/** In characters. The whole text is in the calls and the conversation of the task. */
const maxLength = { call: 2_000, outcome: 500, answer: 10_000 }

/** Records a call that has ended or was interrupted. A call that no model requested, or that was never begun, is not recorded. */
export function* observeCall(tx: Tx, task: EventTask, call: CallRecord, ctx: StepContext): Op<void> {
  const isTheModels = call.kind === 'call' && call.startMessageId !== null
  if (task.policy.team === undefined || !isTheModels) return
  yield* observe(tx, task, callObserved(call), ctx)
}

/** Records an answer: a model step without calls is a finding of the agent. */
export function* observeAnswer(tx: Tx, task: EventTask, message: NewMessage, ctx: StepContext): Op<void> {
  const isAnswer = message.step !== null && message.step.calls.length === 0 && message.content.trim() !== ''
  if (task.policy.team === undefined || !isAnswer) return
  yield* observe(tx, task, answerObserved(message.id, message.content), ctx)
}

export interface Observed extends Pick<ObservationRecord, 'id' | 'type' | 'content' | 'outcome'> {
  /** The source of the outcome of a call is its tool, that of an answer the model. */
  by: Extract<SourceKind, 'model' | 'tool'>
}

/** The observation of an ended call; the same whenever it is made. */
export function callObserved({ id, name, params, result, resultLost, error }: CallRecord): Observed {
  const what = error === null ? (resultLost ?? textOf(result)) : error.message
  return toolObserved(id, `${name} ${textOf(params)}`, what, error !== null)
}

/** The observation of the use of a tool of which only these texts are known. */
export function toolObserved(id: string, call: string, outcome: string, failed: boolean): Observed {
  const type = failed ? 'error' : 'tool_use'
  return {
    id: `obs-${id}`,
    type,
    content: cut(call, maxLength.call),
    outcome: cut(outcome, maxLength.outcome),
    by: 'tool',
  }
}

/** The observation of an agent's answer. */
export function answerObserved(id: string, content: string): Observed {
  return { id: `obs-${id}`, type: 'insight', content: cut(content, maxLength.answer), outcome: null, by: 'model' }
}

function* observe(tx: Tx, task: EventTask, { by, ...observed }: Observed, { at }: StepContext): Op<void> {
  const stint = yield* stintOf(tx, task)
  if (stint === undefined) return
  // The branch may have been closed by hand while the agent works: the outcome of the call is recorded all the same.
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

/** The stint that the task works in, or its last one, for a call that ends after its agent was completed. */
function* stintOf(tx: Reads, task: EventTask): Op<StintRecord | undefined> {
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
