// Refuses what people are asked to callers who may not answer for people: the answer itself, and whatever would let others go on without
// it. An executor declares that its tasks ask people; working engines publish that in the ledger; an unknown executor counts as one that
// does.
import { type Caller, mayAnswerForPeople } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { agentName } from '../drafts/known-executors.ts'
import type { CallRecord } from '../entities/call.ts'
import { audienceOf, type QuestionParams } from '../entities/question.ts'
import type { TaskRecord } from '../entities/task.ts'
import { type Op, type Reads, type Step, step } from '../ledger/ledger.ts'
import { publishedExecutors } from './published-executors.ts'

export function mayAnswer(question: QuestionParams, caller: Caller): boolean {
  return audienceOf(question) === 'anyone' || mayAnswerForPeople(caller)
}

/** @throws ErrandError FORBIDDEN for a question that is put to people, and a caller who may not answer for them. */
export function requireAnswerer(task: TaskRecord, question: CallRecord, caller: Caller): void {
  if (mayAnswer(question.params as QuestionParams, caller)) return
  throw new ErrandError(
    'FORBIDDEN',
    `Question ${question.id} of ${task.id} is put to people: a model, a run, or a tool of theirs may not answer it. A person does, with "errand answer", over HTTP, or in your program; a question that models may answer is asked with \`for: 'anyone'\`.`,
    { taskId: task.id, question: question.id },
  )
}

/** How a change goes around a question, as the refusal says it. */
type Detour = 'complete' | 'change' | 'delete' | 'go on without'

/**
 * Refuses a change of a task whose outcome is what people answer: its executor asks people, or it has an open question for them.
 *
 * @throws ErrandError FORBIDDEN
 */
export function* refuseDetour(tx: Reads, task: TaskRecord, detour: Detour, caller: Caller): Op<void> {
  // One that failed or was canceled has no answer either, and others may still wait for it.
  if (mayAnswerForPeople(caller) || task.status === 'completed' || task.deletedAt !== null) return
  const asks = yield* asksPeople(tx, task)
  if (!asks && (detour === 'change' || !(yield* hasOpenQuestion(tx, task)))) return
  throw new ErrandError(
    'FORBIDDEN',
    `Cannot ${detour} ${task.id}: what it comes to is for people to say, and this caller may not answer for them. Wait until a person has answered, or have a person make this change.`,
    { taskId: task.id },
  )
}

/** No task that is worked on by hand does; one whose executor no engine has published may. */
function* asksPeople(tx: Reads, { executor }: TaskRecord): Op<boolean> {
  if (executor === null || executor === agentName) return false
  return (yield* publishedExecutors(tx))[executor]?.asksPeople !== false
}

function* hasOpenQuestion(tx: Reads, { id }: TaskRecord): Op<boolean> {
  const open = yield* tx.call.open(id)
  return open.some(({ kind, params }) => kind === 'ask' && audienceOf(params as QuestionParams) === 'person')
}

/** The change of one task, unless it settles or changes what people answer. */
export function notAround<R>(change: Step<R>, id: string, detour: Detour, caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return change
  return step(change.name, function* (tx) {
    const task = yield* tx.task.get(id)
    if (task !== undefined) yield* refuseDetour(tx, task, detour, caller)
    return yield* change.decide(tx)
  })
}

/** The change that lets a task go on without others, unless it would go on without an answer of people: theirs, or one before them. */
export function notWithoutAnswer<R>(change: Step<R>, blockers: readonly string[], caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return change
  return step(change.name, function* (tx) {
    yield* refuseToSkip(tx, blockers, 'go on without', caller)
    return yield* change.decide(tx)
  })
}

/** The deletion of a task, unless it or what is below it puts a question to people, or what comes after it would go on without an answer. */
export function notDeletingQuestions<R>(deletion: Step<R>, id: string, caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return deletion
  return step(deletion.name, function* (tx) {
    const task = yield* tx.task.get(id)
    const awaited: string[] = []
    for (const each of task === undefined ? [] : [task, ...(yield* tx.task.subtree(id))]) {
      yield* refuseDetour(tx, each, 'delete', caller)
      if ((yield* tx.dependency.dependents(each.id)).length > 0) awaited.push(each.id)
    }
    yield* refuseToSkip(tx, awaited, 'delete', caller)
    return yield* deletion.decide(tx)
  })
}

/** Looks at the tasks, at what is below them, and at all that these still come after. */
function* refuseToSkip(tx: Reads, ids: readonly string[], detour: Detour, caller: Caller): Op<void> {
  const seen = new Set<string>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    const task = yield* tx.task.get(id)
    if (task === undefined || task.status === 'completed') continue
    yield* refuseDetour(tx, task, detour, caller)
    open.push(...(yield* tx.dependency.openBlockers(id)), ...(yield* tx.task.children(id)).map((child) => child.id))
  }
}
