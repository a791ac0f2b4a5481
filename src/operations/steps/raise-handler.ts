// Creates the handler of a task that has failed for good, or needs an answer, in the transaction in which that happens.
import { briefError } from '../../core/errors.ts'
import type { HandledEvent, HandledTask } from '../../entities/handler.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { TaskDraft } from '../drafts/draft.ts'
import { openQuestions } from './explain.ts'
import { newTask } from './new-task.ts'
import { eventOf, type StepContext } from './step-context.ts'
import { writeLine } from './write-message.ts'

/** System tasks raise none, so that a handler that fails is not handled in turn. */
export function* raiseHandler(tx: Tx, task: TaskRecord, event: HandledEvent, ctx: StepContext): Op<void> {
  const draft = task.policy.handlers?.[event] as TaskDraft | undefined
  if (draft === undefined || task.system) return
  const about = yield* handledTask(tx, task, event)
  // Its parent or another task answers.
  if (about.questions?.length === 0) return
  // Made of what is true in this transaction alone, because the ledger may run it several times.
  const id = `${task.id}-${event === 'failure' ? 'failed' : 'asks'}-${task.version}`
  const handler = newTask(
    {
      ...draft,
      id,
      input: draft.input ?? about,
      metadata: { ...draft.metadata, about },
      createdBy: task.id,
      principal: task.principal,
      system: true,
    },
    undefined,
    0,
    undefined,
    ctx.at,
  )
  yield* tx.task.insert(handler)
  const { goal, executor } = handler
  yield* tx.event.append(eventOf(ctx, 'task.created', handler, { handles: task.id, ...(goal && { goal }), executor }))
  for (const [index, line] of draft.opening.entries()) {
    const isAssignment = line.role === 'user' && draft.input === null
    const content = isAssignment ? `${line.content}\n\n${JSON.stringify(about, null, 2)}` : line.content
    const message = { ...line, id: `${id.replace(/^task-/, 'msg-')}-${index}`, content }
    yield* writeLine(tx, handler, { ...message, delivery: line.role === 'user' ? 'steer' : null }, ctx)
  }
}

function* handledTask(tx: Reads, task: TaskRecord, event: HandledEvent): Op<HandledTask> {
  const { id: taskId, seq, name, executor, attempt, error } = task
  const about: HandledTask = { event, taskId, seq, name, executor, attempt }
  if (event === 'failure') {
    const { code = 'TASK_FAILED', message } = briefError(error ?? { code: 'TASK_FAILED', message: 'failed' })
    return { ...about, error: { code, message } }
  }
  const questions = (yield* openQuestions(tx, taskId)).filter((question) => question.for === 'person')
  return { ...about, questions: questions.map(({ id, question }) => ({ id, question })) }
}
