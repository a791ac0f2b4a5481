// The trace of a run, from before its function begins until that has ended. It is ended before the outcome is recorded, so that a run whose outcome
// is in the ledger has its span, wherever the process dies.
import type { Redaction } from '../core/redact.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { ModelEndFacts, ModelFacts, RunEndFacts, RunTrace, Telemetry, WorkTrace } from '../entities/telemetry.ts'
import type { ExecutorOutcome } from '../operations/steps/settle-run.ts'
import type { RunCore, RunHost } from './run-core.ts'

/** Never rejects: a trace is worth no failure of the task. */
export async function beginTrace(
  telemetry: Telemetry,
  task: TaskRecord,
  { read, report }: Pick<RunHost, 'read' | 'report'>,
): Promise<RunTrace | undefined> {
  const { id, executor, attempt, run, policy, input, parentId } = task
  try {
    const above = parentId === null ? [] : await read((tx) => tx.task.ancestors(id))
    const rootId = above.find((each) => each.parentId === null)?.id ?? id
    return telemetry.run({
      taskId: id,
      rootId,
      executor: executor as string,
      attempt,
      run,
      createdIn: policy.traceparent,
      input,
    })
  } catch (error) {
    report(error, { taskId: id, run, doing: 'begin the trace of a run' })
    return undefined
  }
}

/** The trace of a step of the model. What the model has sent is redacted as it will be in the ledger. */
export function traceModel(
  { trace, task, host }: RunCore,
  messages: ModelFacts['messages'],
): WorkTrace<ModelEndFacts> | undefined {
  const { redaction } = host
  const step = trace?.model({ ...host.describeModel(host.modelFor(task)), messages })
  if (step === undefined || !redaction.isOn) return step
  return {
    within: (work) => step.within(work),
    end: ({ content, error, ...end }) => {
      step.end({
        ...end,
        ...(error === undefined ? {} : { error: { ...error, message: error.code } }),
        ...redacted(content, redaction),
      })
    },
  }
}

/** A text that cannot be redacted is left out. */
function redacted(content: string | undefined, redaction: Redaction): { content?: string } {
  if (content === undefined) return {}
  try {
    return { content: redaction.text(content, 'message', 'content') }
  } catch {
    return {}
  }
}

export function endOf(outcome: ExecutorOutcome, hasEnded: boolean): RunEndFacts {
  if (hasEnded) return { outcome: 'ended' }
  switch (outcome.kind) {
    case 'returned':
      return { outcome: 'returned', result: outcome.result }
    case 'rests':
      return { outcome: 'suspended' }
    case 'continued':
      return { outcome: 'continued' }
    case 'threw':
      return { outcome: 'threw', error: outcome.error }
  }
}
