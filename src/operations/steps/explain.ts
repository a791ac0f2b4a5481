// Explains why a task does not run, as a code for programs and a sentence for people. Only reads.

import { isoTime } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { sentenceOf } from '../../core/parse.ts'
import { startOf } from '../../core/storable-text.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { RunnableTasks } from '../../entities/executor.ts'
import type { MachineDetails } from '../../entities/machine.ts'
import { type Question, toQuestion } from '../../entities/question.ts'
import { webhookName, webhookOfSignal } from '../../entities/signal.ts'
import { isSettled, noReason, type TaskRecord } from '../../entities/task.ts'
import type { Why } from '../../entities/views.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { obstacleOf, recordStateWord } from '../../machines/readiness.ts'
import { agentName } from '../drafts/known-executors.ts'
import { isPlanKey } from '../task/keys.ts'
import { asShown, isLost, type LostRuns } from '../views/lost-runs.ts'
import { machineWaitText } from './explain-machine.ts'
import { explainLimits, familyText, listOf, nameOf } from './explain-other-tasks.ts'
import { parkedRun } from './park.ts'
import { loadTask, loadTasks } from './step-context.ts'

/** Which tasks of an executor this engine can run; null for an engine that runs none. */
type CanRun = ((executor: string) => RunnableTasks) | null

/** The time of the question, and when the model of the task has sent the latest piece of its answer to this process. */
interface Now {
  at: number
  latestPieceAt: number | undefined
}

export function* explain(tx: Reads, id: string, canRun: CanRun, lost: LostRuns, now?: Now): Op<Why> {
  const task = yield* loadTask(tx, id)
  const base = { taskId: id, status: task.status, tasks: [] as string[], at: null as number | null }
  switch (obstacleOf(task)) {
    case 'settled':
      return { ...base, reason: 'settled', message: settledText(task) }
    case 'running':
      if (task.group) return yield* explainGroup(tx, task, lost, base)
      if (isLost(task, lost))
        return { ...base, reason: 'lost', message: `${lostText([task])}${yield* familyText(tx, task, lost)}` }
      return {
        ...base,
        reason: 'running',
        message: `${nameOf(task)} is ${yield* whoWorks(tx, task)}.${yield* modelText(tx, task, now)}${yield* familyText(tx, task, lost)}`,
      }
    case 'group':
      if (task.status !== 'submitted') return yield* explainByHand(tx, task, base)
      if (task.openBlockers > 0) return yield* explainBlockers(tx, task, lost, base)
      return {
        ...base,
        reason: 'executor',
        message: 'It is a group: it starts with its first child, and none has started yet.',
      }
    case 'held':
      return explainHeld(task, base)
    case 'blocked':
      return yield* explainBlockers(tx, task, lost, base)
    case 'timer':
      return {
        ...base,
        reason: 'timer',
        at: task.notBefore,
        message: `It may start at ${isoTime(task.notBefore as number)}.`,
      }
    case 'answer':
      return yield* explainQuestions(tx, task, base)
    case 'children':
      return task.executor === null ? yield* explainByHand(tx, task, base) : yield* explainWaits(tx, task, lost, base)
    case 'closing':
      return { ...base, reason: 'closing', message: `It is queued: its last run (${task.run}) is still ending.` }
    case null:
      if (task.executor === null) return { ...base, reason: 'claim', message: claimableMessage(task) }
      return { ...base, ...(explainExecutor(task, canRun) ?? (yield* explainQueue(tx, task, canRun))) }
  }
}

const maxReasonLength = 200
/** How many tasks back the beginning of a chain is looked for. */
const maxChain = 1_000

function settledText(task: TaskRecord): string {
  if (task.status === 'completed') return `${nameOf(task)} is completed.`
  const failure = task.error?.message === noReason ? undefined : task.error?.message
  const given = (task.status === 'failed' ? failure : task.statusReason) ?? ''
  const reason = startOf((given.split('\n')[0] ?? '').trim(), maxReasonLength)
  const ended = `${nameOf(task)} ${task.status === 'failed' ? 'failed' : 'was canceled'}`
  const sentence = sentenceOf(reason === '' ? ended : `${ended}: ${reason}`)
  return task.status === 'failed' ? `${sentence} \`retry\` gives it a new attempt.` : sentence
}

/** Undefined if this engine can run the task, or runs no tasks. */
function explainExecutor({ executor, policy }: TaskRecord, canRun: CanRun): Explained | undefined {
  const tasks = canRun?.(executor as string) ?? 'all'
  if (tasks === 'all' || (tasks === 'named' && policy.model !== undefined)) return undefined
  if (tasks === 'unknown') {
    const message = `This engine has no executor "${executor}". An engine on this ledger that has it runs the task.`
    return { reason: 'executor', message }
  }
  const missing =
    tasks === 'named'
      ? `no default model is configured in this engine, and the task names none`
      : `no model is configured in this engine`
  return {
    reason: 'model',
    message: `It waits for a model: ${missing}. Give createEngine a \`model\`, call \`model:register\`, or register a \`model:llm\` on the bus (on the command line: --model, or ERRAND_MODEL); an engine on this ledger that has a model runs it too.`,
  }
}

function* explainQueue(tx: Reads, task: TaskRecord, canRun: CanRun): Op<Explained> {
  const limit = yield* explainLimits(tx, task)
  if (limit !== undefined) return limit
  if (canRun !== null) return { reason: 'slot', message: 'It is ready and waits for a free slot.' }
  const withModel = task.executor === agentName ? ' that has a model' : ''
  return { reason: 'slot', message: `It is ready and gets the next free slot of a working engine${withModel}.` }
}

/** How long the model of an agent has been silent, and whether its provider has probably cut what it was sent. */
function* modelText(tx: Reads, task: TaskRecord, now: Now | undefined): Op<string> {
  if (task.owner !== null || (yield* tx.message.page(task.id, 0, 1)).rows[0]?.role !== 'system') return ''
  const recent = yield* tx.event.before(Number.MAX_SAFE_INTEGER, 20, task.id)
  // What others do meanwhile, such as a message to the agent, does not ask the model.
  const latest = recent.find(({ type, data }) => type !== 'task.updated' && data['run'] !== null)
  const isAsked = latest !== undefined && (yield* tx.call.open(task.id)).length === 0
  const silent = isAsked ? silenceText(latest.at, now) : ''
  const [cut] = yield* tx.event.latestOf(task.id, 'model.prompt_cut', 1)
  if (cut === undefined) return silent
  const { inputTokens, expectedTokens } = cut.data
  return `${silent} Its provider reports ${String(inputTokens)} tokens of about ${String(expectedTokens)} that it was sent, so the prompt was probably cut: give the server a larger context, or the agent fewer abilities.`
}

/** The arguments of a call come as a whole, so a model that is silent here may be writing a long one. */
function silenceText(askedAt: number, now: Now | undefined): string {
  const asked = ` Its model was asked at ${isoTime(askedAt)} and has not ended its answer`
  if (now === undefined) return `${asked}.`
  const since = (time: number): string => formatDuration(now.at - time)
  const whole = `${asked} after ${since(askedAt)}.`
  return now.latestPieceAt === undefined
    ? whole
    : `${whole} The latest text, reasoning or call of it came ${since(now.latestPieceAt)} ago.`
}

/** What was running, and what continues it. */
function lostText(tasks: readonly TaskRecord[]): string {
  const [first] = tasks as [TaskRecord]
  const [was, whose, it] =
    tasks.length === 1
      ? [`was running (run ${first.run})`, 'its engine', 'It continues']
      : ['were running', 'their engine', 'They continue']
  const executors = [...new Set(tasks.map((task) => task.executor as string))]
  const byPlan = tasks.some(({ key }) => key !== null && isPlanKey(key)) ? '`errand run` with the plan, or ' : ''
  return `${listOf(tasks.map(nameOf))} ${was}, but the process of ${whose} has ended. ${it} when an engine that has the executor ${listOf(executors)} works on this ledger (on the command line: ${byPlan}\`errand serve\`).`
}

function* whoWorks(tx: Reads, task: TaskRecord): Op<string> {
  if (task.owner === null)
    return `running${task.run > 0 ? ` (run ${task.run})${yield* whereParked(tx, task)}` : ' by hand'}`
  const until = task.leaseUntil === null ? '' : `, whose lease ends at ${isoTime(task.leaseUntil)}`
  return `worked on by ${task.owner} (claim ${task.fence})${yield* claimedSince(tx, task.id)}${until}`
}

function* whereParked(tx: Reads, task: TaskRecord): Op<string> {
  switch ((yield* parkedRun(tx, task))?.status) {
    case 'parked': {
      const names = (yield* loadTasks(tx, yield* awaitedBy(tx, task))).map(nameOf)
      // A machine with an actor in memory may wait for no task.
      return `, and waits in memory for ${names.length === 0 ? 'the next event of its machine' : listOf(names)}`
    }
    case 'queued':
      return ', has what it waited for in memory, and waits for a free slot'
    default:
      return ''
  }
}

function* claimedSince(tx: Reads, taskId: string): Op<string> {
  const [claimed] = yield* tx.event.latestOf(taskId, 'task.claimed', 1)
  return claimed === undefined ? '' : ` since ${isoTime(claimed.at)}`
}

function claimableMessage(task: TaskRecord): string {
  const past =
    task.statusReason === 'interrupted'
      ? ' Its owner sent no heartbeat within its lease.'
      : task.statusReason === 'released'
        ? ' Its owner released it.'
        : ''
  const who = task.role === null ? 'anybody' : `the role ${task.role}`
  return `It has no executor and waits for ${who} to \`claim\` it${task.status === 'submitted' ? ', or for `start` by hand' : ''}.${past}`
}

type Base = Omit<Why, 'reason' | 'message'>
type Explained = Pick<Why, 'reason' | 'message'>

function explainHeld(task: TaskRecord, base: Base): Why {
  const verb = task.status === 'paused' ? 'resume' : 'start'
  const owned = task.owner === null ? '' : ` Its owner is ${task.owner}.`
  return { ...base, reason: 'held', message: `${nameOf(task)} is ${task.status} and waits for \`${verb}\`.${owned}` }
}

function* explainQuestions(tx: Reads, task: TaskRecord, base: Base): Op<Why> {
  const questions = yield* openQuestions(tx, task.id)
  const who = questions.some((question) => question.for === 'person') ? 'a person to answer' : 'an answer'
  const asked = questions.map((question) => `"${question.question}"`).join(', ')
  return {
    ...base,
    reason: 'answer',
    message: `It waits for ${who}${asked === '' ? '.' : `: ${asked}`}`,
  }
}

/** A task without an executor that was put into its state by hand. */
function* explainByHand(tx: Reads, task: TaskRecord, base: Base): Op<Why> {
  if (task.status === 'paused') return explainHeld(task, base)
  if (task.status === 'input_required') return yield* explainQuestions(tx, task, base)
  const message = `${nameOf(task)} was set to waiting by hand. \`update({ status: 'working' })\` lets it continue.`
  return { ...base, reason: 'children', message }
}

/** A group has no work of its own: it stays open as long as a task in it, at any depth, is not settled. */
function* explainGroup(tx: Reads, group: TaskRecord, lost: LostRuns, base: Base): Op<Why> {
  const open = (yield* tx.task.subtree(group.id)).filter(
    (each) => !each.group && each.deletedAt === null && !isSettled(each.status),
  )
  const working = open.filter((each) => each.status === 'working')
  const running = working.filter((each) => !isLost(each, lost))
  const gone = working.filter((each) => isLost(each, lost))
  const goneText = gone.length === 0 ? '' : ` ${lostText(gone)}`
  if (running.length > 0) {
    return {
      ...base,
      reason: 'running',
      tasks: working.map((each) => each.id),
      message: `${nameOf(group)} is a group and ends with its last task: ${listOf(running.map(nameOf))} ${running.length === 1 ? 'is' : 'are'} running, ${open.length - running.length} more to come.${goneText}${yield* familyText(tx, group, lost)}`,
    }
  }
  if (gone.length > 0) {
    return {
      ...base,
      reason: 'lost',
      tasks: gone.map((each) => each.id),
      message: `${nameOf(group)} is a group, and none of its tasks runs now.${goneText}${yield* familyText(tx, group, lost)}`,
    }
  }
  const listed = listOf(
    open.map((each) => `${nameOf(each)}, ${recordStateWord(each)}`),
    '; ',
  )
  const waiting = open.length === 0 ? '' : ` Open: ${listed}. \`why\` says for each task what it waits for.`
  return {
    ...base,
    reason: 'children',
    tasks: open.map((each) => each.id),
    message: `${nameOf(group)} is a group. It has started, but none of its tasks runs now.${waiting}${yield* familyText(tx, group, lost)}`,
  }
}

/** The blockers of a task, with what would help for those that will not complete by themselves. */
function* explainBlockers(tx: Reads, task: TaskRecord, lost: LostRuns, base: Base): Op<Why> {
  const ids = yield* tx.dependency.openBlockers(task.id)
  const by = { open: [] as string[], failed: [] as string[], canceled: [] as string[] }
  for (const id of ids) {
    const blocker = yield* tx.task.get(id)
    const status = blocker?.status
    by[status === 'failed' || status === 'canceled' ? status : 'open'].push(
      blocker === undefined ? id : nameOf(blocker),
    )
  }
  const sentences = [
    by.open.length > 0 && `It comes after ${listOf(by.open)}, not yet completed.`,
    by.failed.length > 0 &&
      `It comes after ${listOf(by.failed)}, which failed. \`retry\` gives a failed task a new attempt, \`unblock\` ends the wait, \`cancel\` ends this task.`,
    by.canceled.length > 0 &&
      `It comes after ${listOf(by.canceled)}, which was canceled and will never complete. \`unblock\` ends the wait, \`cancel\` ends this task.`,
    yield* explainRoot(tx, task, lost),
  ]
  return { ...base, reason: 'blocked', tasks: ids, message: sentences.filter(Boolean).join(' ') }
}

/** Where the chain of tasks that it comes after begins, if that is not a task right before it: what has to happen first. */
function* explainRoot(tx: Reads, task: TaskRecord, lost: LostRuns): Op<string> {
  let [root, length]: [TaskRecord, number] = [task, 0]
  for (; root.openBlockers > 0 && length < maxChain; length++) {
    const before: string | undefined = root.stuckBy ?? (yield* tx.dependency.openBlockers(root.id))[0]
    const found: TaskRecord | undefined = before === undefined ? undefined : yield* tx.task.get(before)
    if (found === undefined) break
    root = found
  }
  if (length < 2) return ''
  const state = isSettled(root.status)
    ? settledText(root)
    : `${nameOf(root)} is ${recordStateWord(asShown(root, lost))}.`
  return `${length} tasks back, its chain begins: ${state}`
}

function* explainWaits(tx: Reads, task: TaskRecord, lost: LostRuns, base: Base): Op<Why> {
  const open = yield* tx.call.open(task.id)
  const awaited = yield* awaitedBy(tx, task)
  const machine = open.find((entry) => entry.kind === 'machine')
  if (machine !== undefined) {
    const text = machineWaitText(machine.details as MachineDetails, (yield* loadTasks(tx, awaited)).map(nameOf))
    const reason = awaited.length > 0 ? 'children' : 'signal'
    return { ...base, reason, tasks: awaited, at: machine.dueAt, message: text }
  }
  const waits = open.filter((entry) => entry.kind === 'sleep' || entry.kind === 'signal')
  if (awaited.length === 0 && waits.length > 0) return yield* explainOutside(tx, waits, base)
  const children = (yield* tx.task.children(task.id)).filter((child) => child.status !== 'completed')
  return {
    ...base,
    reason: 'children',
    tasks: awaited.length > 0 ? awaited : children.map((child) => child.id),
    at: firstDue(waits),
    message:
      awaited.length > 0
        ? `It waits for ${listOf((yield* loadTasks(tx, awaited)).map(nameOf))}.`
        : `It waits for its children.${yield* familyText(tx, task, lost)}`,
  }
}

/** It sleeps, or waits for signals. */
function* explainOutside(tx: Reads, waits: readonly CallRecord[], base: Base): Op<Why> {
  const at = firstDue(waits)
  const signals = waits.filter(({ kind }) => kind === 'signal')
  // The oldest comes first.
  const [first] = signals
  if (first === undefined) {
    return { ...base, reason: 'timer', at, message: `It sleeps until ${isoTime(at as number)}.` }
  }
  const names = new Set<string>()
  let hooks = 0
  for (const { name } of signals) {
    if (yield* isOfWebhook(tx, name)) hooks++
    else names.add(`"${name}"`)
  }
  const awaited = [
    names.size > 0 && `the signal ${listOf([...names])}`,
    hooks > 0 && (hooks === 1 ? 'a call to its webhook' : 'calls to its webhooks'),
  ].filter(Boolean)
  const until = at === null ? '' : `, until ${isoTime(at)}`
  const help = names.size > 0 ? ' `signal` sends it.' : ''
  const message = `It waits for ${awaited.join(' and ')} since ${isoTime(first.createdAt)}${until}.${help}`
  return { ...base, reason: 'signal', at, message }
}

function* isOfWebhook(tx: Reads, signal: string): Op<boolean> {
  const entryId = webhookOfSignal(signal)
  return entryId !== undefined && (yield* tx.call.get(entryId))?.name === webhookName
}

function firstDue(waits: readonly CallRecord[]): number | null {
  const [at = null] = waits.flatMap(({ dueAt }) => dueAt ?? []).sort((one, other) => one - other)
  return at
}

/** The tasks that the open waits of a task are for. */
function* awaitedBy(tx: Reads, task: TaskRecord): Op<string[]> {
  const awaited: string[] = []
  for (const entry of yield* tx.call.open(task.id)) {
    if (entry.kind !== 'wait') continue
    for (const { blockerId } of yield* tx.dependency.openWaits(entry.id)) awaited.push(blockerId)
  }
  return awaited
}

/** The tasks that a task comes after, in order. */
export function* dependenciesOf(tx: Reads, taskId: string): Op<TaskRecord[]> {
  return yield* loadTasks(tx, yield* tx.dependency.blockers(taskId))
}

/** The questions of a task that wait for an answer. */
export function* openQuestions(tx: Reads, taskId: string): Op<Question[]> {
  return (yield* tx.call.open(taskId)).filter((entry) => entry.kind === 'ask').map(toQuestion)
}
