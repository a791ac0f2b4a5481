// Guards the questions that are put to people: callers who may not answer for people can neither answer one nor let a task go on without
// the answer. An executor declares with `asksPeople` that its tasks ask people; working engines publish that in the ledger. An executor
// that no engine has published counts as one that asks.
import { type Caller, isModel, mayAnswerForPeople } from '../bus/caller.ts'
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

/** @throws ErrandError FORBIDDEN if the question is put to people and the caller may not answer for them. */
export function requireAnswerer(task: TaskRecord, question: CallRecord, caller: Caller): void {
  if (mayAnswer(question.params as QuestionParams, caller)) return
  throw new ErrandError(
    'FORBIDDEN',
    `Cannot answer question ${question.id} of ${task.id}: it is put to people, and ${whyNotForPeople(caller)}. A person can answer it with "errand answer" or over HTTP with credentials that name no task, and your program with \`engine.answer\`. A question that models may answer is asked with \`for: 'anyone'\`.`,
    { taskId: task.id, question: question.id },
  )
}

/** Why this caller may not answer for people. */
function whyNotForPeople(caller: Caller): string {
  const { surface, taskId } = caller
  if (isModel(caller)) return 'this caller is a model'
  if (taskId !== undefined) return `this caller acts for task ${taskId} (\`taskId\`, surface "${surface}")`
  return `this caller comes through "${surface}", which models use`
}

/** The change that is refused, as the message names it. */
type Detour = 'complete' | 'change' | 'delete' | 'go on without'

/**
 * Refuses a change of a task whose outcome is a person's answer: its executor asks people, or it has an open question for them.
 *
 * @throws ErrandError FORBIDDEN
 */
export function* refuseDetour(tx: Reads, task: TaskRecord, detour: Detour, caller: Caller): Op<void> {
  // A failed or canceled task has no answer either, and others may still wait for it.
  if (mayAnswerForPeople(caller) || task.status === 'completed' || task.deletedAt !== null) return
  const why = yield* whyForPeople(tx, task, detour)
  if (why === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `Cannot ${detour} ${task.id}: ${why.holds}, and ${whyNotForPeople(caller)}. ${why.help}`,
    { taskId: task.id },
  )
}

/** Why the outcome of a task is for people to decide, and what would work; undefined if it is not. */
function* whyForPeople(tx: Reads, task: TaskRecord, detour: Detour): Op<{ holds: string; help: string } | undefined> {
  const wait = 'Wait until a person has answered, or have a person make this change.'
  const question = detour === 'change' ? undefined : yield* openQuestion(tx, task)
  if (question !== undefined) return { holds: `its question ${question.id} is open and put to people`, help: wait }
  const { executor } = task
  // A task that is worked on by hand, or by an agent, asks people by an open question only.
  if (executor === null || executor === agentName) return undefined
  const asksPeople = (yield* publishedExecutors(tx))[executor]?.asksPeople
  if (asksPeople === false) return undefined
  if (asksPeople) return { holds: `its executor "${executor}" asks people for its result`, help: wait }
  return {
    holds: `no engine has published in this ledger whether its executor "${executor}" asks people, so its result may be a person's answer`,
    help: `Start an engine with the executor "${executor}" on this ledger, or have a person make this change.`,
  }
}

function* openQuestion(tx: Reads, { id }: TaskRecord): Op<CallRecord | undefined> {
  const open = yield* tx.call.open(id)
  return open.find(({ kind, params }) => kind === 'ask' && audienceOf(params as QuestionParams) === 'person')
}

/** The change of one task, refused if it settles or changes what is a person's answer. */
export function notAround<R>(change: Step<R>, id: string, detour: Detour, caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return change
  return step(change.name, function* (tx) {
    const task = yield* tx.task.get(id)
    if (task !== undefined) yield* refuseDetour(tx, task, detour, caller)
    return yield* change.decide(tx)
  })
}

/** The change that lets a task go on without its blockers, refused if one of these, or of the tasks before them, awaits a person's answer. */
export function notWithoutAnswer<R>(change: Step<R>, blockers: readonly string[], caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return change
  return step(change.name, function* (tx) {
    yield* refuseToSkip(tx, blockers, 'go on without', caller)
    return yield* change.decide(tx)
  })
}

/** The deletion of a task, refused if it or a task below it asks people, or if its dependents would go on without a person's answer. */
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

/** Checks the tasks, those below them, and all that these still come after. */
function* refuseToSkip(tx: Reads, ids: readonly string[], detour: Detour, caller: Caller): Op<void> {
  const seen = new Set<string>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    const task = yield* tx.task.get(id)
    if (task === undefined || task.status === 'completed') continue
    yield* refuseDetour(tx, task, detour, caller)
    for (const blocker of yield* tx.dependency.openBlockers(id)) open.push(blocker)
    for (const child of yield* tx.task.children(id)) open.push(child.id)
  }
}
