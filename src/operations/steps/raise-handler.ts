// Creates the handler of a task that has failed for good, or needs an answer, in the transaction in which that happens.
import { briefError } from '../../core/errors.ts'
import type { HandledEvent, HandledTask } from '../../entities/handler.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { TaskDraft } from '../drafts/draft.ts'
import { openQuestions } from './explain.ts'
import type { StepContext } from './step-context.ts'
import { insertSystemTask, systemTaskId } from './system-task.ts'

/** System tasks raise none, so that a handler that fails is not handled in turn. */
export function* raiseHandler(tx: Tx, task: TaskRecord, event: HandledEvent, ctx: StepContext): Op<void> {
  const draft = task.policy.handlers?.[event] as TaskDraft | undefined
  if (draft === undefined || task.system) return
  const about = yield* handledTask(tx, task, event)
  // Its parent or another task answers.
  if (about.questions?.length === 0) return
  const { principal } = task.policy
  const opening = draft.opening.map((line) =>
    line.role === 'user' && draft.input === null
      ? { ...line, content: `${line.content}\n\n${JSON.stringify(about, null, 2)}` }
      : line,
  )
  const handler: TaskDraft = {
    ...draft,
    id: systemTaskId(task.id, event, task.version),
    input: draft.input ?? about,
    metadata: { ...draft.metadata, about },
    createdBy: task.id,
    opening,
    ...(principal === undefined ? {} : { principal }),
  }
  yield* insertSystemTask(tx, handler, { handles: task.id }, ctx)
}

function* handledTask(tx: Reads, task: TaskRecord, event: HandledEvent): Op<HandledTask> {
  const { id: taskId, seq, name, executor, attempt, error } = task
  const about: HandledTask = { event, taskId, seq, name, executor, attempt }
  if (event === 'failure') {
    const { code, message } = briefError(error ?? { code: 'TASK_FAILED', message: 'failed' })
    return { ...about, error: { code, message } }
  }
  const questions = (yield* openQuestions(tx, taskId)).filter((question) => question.for === 'person')
  return { ...about, questions: questions.map(({ id, question }) => ({ id, question })) }
}
