// Why a task does not run, in a word for programs and a sentence for people. A read: nothing is judged or written.
import type { Why } from '../api.ts'
import { type Question, toQuestion } from '../entities/question.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { obstacleOf } from '../machines/readiness.ts'
import { requireTask } from './moment.ts'

/** Why a task does not run; `executors` are those of this engine if it works, null if it only commands. */
export function* explain(tx: Reads, id: string, executors: string[] | null): Op<Why> {
  const task = requireTask(yield* tx.task.get(id), id)
  const base = { taskId: id, status: task.status, tasks: [] as string[], at: null as number | null }
  const obstacle = obstacleOf(task)
  switch (obstacle) {
    case 'settled':
      return { ...base, reason: 'settled', message: `${task.name} is ${task.status}.` }
    case 'running':
      return {
        ...base,
        reason: 'running',
        message: `${task.name} is running${task.run > 0 ? ` (run ${task.run})` : ' by hand'}.`,
      }
    case 'no-executor': {
      if (task.openBlockers > 0) break
      const hint = task.group
        ? 'It is a group: it starts with its first child.'
        : 'It has no executor: `start` begins it by hand.'
      return { ...base, reason: 'executor', message: hint }
    }
    case 'held': {
      const verb = task.status === 'paused' ? 'resume' : 'start'
      return { ...base, reason: 'held', message: `${task.name} is ${task.status} and waits for \`${verb}\`.` }
    }
    case 'closing':
      return { ...base, reason: 'closing', message: `Its last run (${task.run}) is still settling.` }
    case 'blocked':
      break
    case 'timer':
      return { ...base, reason: 'timer', at: task.notBefore, message: `It may start at ${task.notBefore} (epoch ms).` }
    case 'answer': {
      const questions = yield* openQuestions(tx, id)
      return {
        ...base,
        reason: 'answer',
        message: `It asks: ${questions.map((question) => `"${question.question}"`).join(', ') || 'for an answer'}. \`answer\` goes on.`,
      }
    }
    case 'children':
      return yield* explainWaits(tx, task, base)
    case null:
      if (executors !== null && !executors.includes(task.executor as string)) {
        return {
          ...base,
          reason: 'executor',
          message: `This engine has no executor "${task.executor}"; one that has it will run it.`,
        }
      }
      return {
        ...base,
        reason: 'slot',
        message:
          executors === null
            ? 'It is ready: the next free slot of a working engine is its.'
            : 'It is ready and waits for a free slot.',
      }
  }
  const blockers = yield* tx.dependency.openBlockers(id)
  return {
    ...base,
    reason: 'blocked',
    tasks: blockers,
    message: `It comes after ${blockers.join(', ')}, not yet completed.`,
  }
}

function* explainWaits(tx: Reads, task: TaskRecord, base: Omit<Why, 'reason' | 'message'>): Op<Why> {
  const open = yield* tx.call.open(task.id)
  const awaited: string[] = []
  for (const entry of open) {
    if (entry.kind === 'wait') awaited.push(...(yield* tx.dependency.openWaits(entry.id)).map((edge) => edge.blockerId))
  }
  const sleep = open.find((entry) => entry.kind === 'sleep')
  if (awaited.length === 0 && sleep) {
    return { ...base, reason: 'timer', at: sleep.dueAt, message: `It sleeps until ${sleep.dueAt} (epoch ms).` }
  }
  return {
    ...base,
    reason: 'children',
    tasks: awaited,
    at: sleep?.dueAt ?? null,
    message: `It waits for ${awaited.join(', ') || 'its children'}.`,
  }
}

/** The tasks that a task comes after, in order. */
export function* dependenciesOf(tx: Reads, taskId: string): Op<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (const id of yield* tx.dependency.blockers(taskId)) {
    const task = yield* tx.task.get(id)
    if (task) found.push(task)
  }
  return found
}

/** The questions of a task that wait for an answer. */
export function* openQuestions(tx: Reads, taskId: string): Op<Question[]> {
  return (yield* tx.call.open(taskId)).filter((entry) => entry.kind === 'ask').map(toQuestion)
}
