// Guards the questions that are put to people: callers who may not answer for people can neither answer one nor let a task go on without
// the answer. An executor declares with `asksPeople` that its tasks ask people; working engines publish that in the ledger. An executor
// that no engine has published counts as one that asks.
import { type Caller, isModel, mayAnswerForPeople } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { QuestionParams } from '../../entities/question.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { agentName } from '../drafts/known-executors.ts'
import { publishedExecutors } from './published-executors.ts'

export function mayAnswer(question: QuestionParams, caller: Caller): boolean {
  return question.for === 'anyone' || mayAnswerForPeople(caller)
}

/** @throws ErrandError FORBIDDEN if the question is put to people and the caller may not answer for them. */
export function requireAnswerer(task: TaskRecord, question: CallRecord, caller: Caller): void {
  if (mayAnswer(question.params as QuestionParams, caller)) return
  throw new ErrandError(
    'FORBIDDEN',
    `Cannot answer question ${question.id} of ${task.id}: it is for people, and ${whyNotForPeople(caller)}. A person can answer it with "errand answer" or over HTTP with credentials that name no task, and your program with \`engine.answer\`. A question that models may answer is asked with \`for: 'anyone'\`.`,
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

/** The guarded change, as an error message names it. */
type GuardedVerb = 'complete' | 'change' | 'delete' | 'go on without'

/**
 * @throws ErrandError FORBIDDEN if the outcome of the task is a person's answer (its executor asks people, or it has an open question for
 * them) and the caller may not answer for people.
 */
export function* requireRightToChange(tx: Reads, task: TaskRecord, verb: GuardedVerb, caller: Caller): Op<void> {
  // A failed or canceled task has no answer either, and others may still wait for it.
  if (mayAnswerForPeople(caller) || task.status === 'completed' || task.deletedAt !== null) return
  const why = yield* whyForPeople(tx, task, verb)
  if (why === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `Cannot ${verb} ${task.id}: ${why.holds}, and ${whyNotForPeople(caller)}. ${why.help}`,
    { taskId: task.id },
  )
}

/** Why the outcome of a task is for people to decide, and what would work; undefined if it is not. */
function* whyForPeople(
  tx: Reads,
  task: TaskRecord,
  verb: GuardedVerb,
): Op<{ holds: string; help: string } | undefined> {
  const wait = 'Wait until a person has answered, or have a person make this change.'
  const question = verb === 'change' ? undefined : yield* openQuestion(tx, task)
  if (question !== undefined) return { holds: `its question ${question.id} is open and for people`, help: wait }
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
  return open.find(({ kind, params }) => kind === 'ask' && (params as QuestionParams).for === 'person')
}

/** Guards the change of one task: it is refused if it would settle or change a task whose outcome is a person's answer. */
export function guardChange<R>(change: Step<R>, id: string, verb: GuardedVerb, caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return change
  return step(change.name, function* (tx) {
    const task = yield* tx.task.get(id)
    if (task !== undefined) yield* requireRightToChange(tx, task, verb, caller)
    return yield* change.decide(tx)
  })
}

/** Guards a change that unblocks a task: it is refused if a blocker, or a task before one, waits for a person's answer. */
export function guardUnblock<R>(change: Step<R>, blockers: readonly string[], caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return change
  return step(change.name, function* (tx) {
    yield* requireRightToSkip(tx, blockers, 'go on without', caller)
    return yield* change.decide(tx)
  })
}

/** Guards the deletion of a task: it is refused if the task or one below it asks people, or if dependents would go on without an answer. */
export function guardDeletion<R>(deletion: Step<R>, id: string, caller: Caller): Step<R> {
  if (mayAnswerForPeople(caller)) return deletion
  return step(deletion.name, function* (tx) {
    const task = yield* tx.task.get(id)
    const awaited: string[] = []
    for (const each of task === undefined ? [] : [task, ...(yield* tx.task.subtree(id))]) {
      yield* requireRightToChange(tx, each, 'delete', caller)
      if ((yield* tx.dependency.dependents(each.id)).length > 0) awaited.push(each.id)
    }
    yield* requireRightToSkip(tx, awaited, 'delete', caller)
    return yield* deletion.decide(tx)
  })
}

/** Checks the tasks, those below them, and all that these still come after. */
function* requireRightToSkip(tx: Reads, ids: readonly string[], verb: GuardedVerb, caller: Caller): Op<void> {
  const seen = new Set<string>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    const task = yield* tx.task.get(id)
    if (task === undefined || task.status === 'completed') continue
    yield* requireRightToChange(tx, task, verb, caller)
    for (const blocker of yield* tx.dependency.openBlockers(id)) open.push(blocker)
    for (const child of yield* tx.task.children(id)) open.push(child.id)
  }
}
