// The commands that read tasks and their events, runs and calls. Output that a verb of the command line also prints comes from the
// same functions in terminal/.

import type { OutputOfAbility } from '../../bus/ability-types.ts'
import { formatDuration } from '../../core/duration.ts'
import type { Limits, TaskGraph } from '../../engine/engine-api.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { statusLabels } from '../../entities/status-filter.ts'
import { type BriefTask, type Task, taskStatuses } from '../../entities/task.ts'
import { acceptedEvents } from '../../machines/task-edges.ts'
import type { TaskRow } from '../../operations/views/task-row.ts'
import { allBriefly } from '../../plans/each-task.ts'
import { misuse, oneOf } from '../terminal/arguments.ts'
import { sharedLimitLines } from '../terminal/limit-lines.ts'
import {
  callTable,
  describeConversation,
  formatTaskDetails,
  readTaskDetails,
  runTable,
} from '../terminal/task-details.ts'
import { taskFlowchart } from '../terminal/task-flowchart.ts'
import { changedLine, stateLabel, taskLabel, taskNumbers, whyLines } from '../terminal/task-labels.ts'
import { openTasks } from '../terminal/task-list.ts'
import { readReasons } from '../terminal/task-reasons.ts'
import { hiddenNote, taskTable } from '../terminal/task-table.ts'
import { readTree, readTrees, treeLines } from '../terminal/task-tree.ts'
import { cleanLine } from '../terminal/terminal-text.ts'
import { takeWord, wordsOf } from './read-line.ts'
import type { ReplVerb, ReplVerbs, Session } from './session.ts'
import { eventLine } from './shown-value.ts'
import { anyRefs } from './task-refs.ts'

const latestEvents = 5
const defaultEvents = 20
/** The maximum of `event:list`. */
const maxEvents = 5_000

/** A command that prints lines about one task. */
function aboutTask(
  usage: string,
  summary: string,
  linesOf: (session: Session, task: Task) => Promise<string[]>,
): ReplVerb {
  return {
    usage,
    summary,
    complete: anyRefs,
    async run(session, rest) {
      session.printer.lines(await linesOf(session, await session.find(wordsOf(rest)[0])))
    },
  }
}

export const readVerbs: ReplVerbs = {
  ps: {
    usage: 'ps [all | STATUS…]',
    summary: 'list the tasks that are not settled, or all, or those in the given states',
    complete: async () => ['all', ...statusLabels],
    async run({ engine, printer, clock }, rest) {
      const status = rest === 'all' ? [] : wordsOf(rest).map((word) => oneOf('status', word, statusLabels))
      const tasks = await (rest === ''
        ? openTasks(engine, allBriefly)
        : allBriefly(engine, status.length === 0 ? {} : { status }))
      const reasons = await readReasons(engine, tasks)
      printer.lines(tasks.length === 0 ? ['no tasks'] : taskTable(tasks, clock.now(), printer.columns, reasons))
      const hidden = rest === '' ? await hiddenNote(engine, tasks.length, '/ps all') : undefined
      if (hidden !== undefined) printer.line(hidden)
    },
  },
  tree: {
    usage: 'tree [TASK | all]',
    summary: 'show a task with its subtasks; else every tree with a task that is not settled, or all trees',
    complete: async (session, typed) => ['all', ...(await anyRefs(session, typed))],
    async run(session, rest) {
      const { engine, printer } = session
      const task = rest === 'all' ? undefined : await named(session, rest)
      const trees = task === undefined ? await readTrees(engine, rest === 'all') : [await readTree(engine, task)]
      printer.lines(treeLines(trees, printer.columns))
    },
  },
  show: aboutTask('show TASK', 'show everything about a task', async ({ engine, printer }, task) =>
    formatTaskDetails(await readTaskDetails(engine, task), printer.columns),
  ),
  why: aboutTask('why TASK', 'explain why a task does not run', async ({ engine }, { id }) =>
    whyLines(engine, await engine.why(id)),
  ),
  graph: {
    usage: 'graph [TASK] [--mermaid]',
    summary:
      'list the open tasks in an order that respects their blockers, and the tasks that block the most; or draw all as a diagram',
    complete: anyRefs,
    async run(session, rest) {
      const { engine, printer } = session
      const words = wordsOf(rest)
      const ref = words.find((word) => word !== '--mermaid')
      const task = ref === undefined ? undefined : await session.find(ref)
      if (words.includes('--mermaid')) printer.line(await taskFlowchart(engine, task))
      else printer.lines(graphLines(await engine.graph({ parentId: task?.id })))
    },
  },
  tail: {
    usage: 'tail [TASK]',
    summary: 'print events as they come, until Ctrl-C',
    complete: anyRefs,
    async run(session, rest, signal) {
      const taskId = (await named(session, rest))?.id
      const after = await session.position()
      if (session.interactive) session.printer.line('(Ctrl-C ends it)')
      const { loudness } = session
      session.loudness = 'quiet'
      try {
        for await (const event of session.stream<TaskEvent>('event:feed', { taskId, after }, signal)) {
          for (const line of await eventLines(session, [event])) session.printer.line(line)
        }
      } finally {
        session.loudness = loudness
      }
    },
  },
  events: {
    usage: 'events [TASK] [N]',
    summary: `list the latest events; N defaults to ${defaultEvents}`,
    complete: anyRefs,
    async run(session, rest) {
      const count = wordsOf(rest)[1]
      const limit = count === undefined ? defaultEvents : readCount(count)
      session.printer.lines(await latest(session, limit, (await named(session, rest))?.id))
    },
  },
  runs: aboutTask('runs TASK', 'list the runs of a task', async ({ engine, printer }, { id }) => {
    const runs = await engine.runs(id)
    return runs.length === 0 ? ['no runs'] : runTable(runs, printer.columns)
  }),
  calls: aboutTask('calls TASK', 'list the calls of a task', async ({ engine, printer }, { id }) => {
    const calls = await engine.calls(id)
    return calls.length === 0 ? ['no calls'] : callTable(calls, printer.columns)
  }),
  messages: aboutTask('messages TASK', 'show the conversation of a task', async ({ engine }, { id }) => {
    const lines = describeConversation(await engine.messages(id)).slice(2)
    return lines.length === 0 ? ['no messages'] : lines
  }),
  inspect: {
    usage: 'inspect [TASK]',
    summary: 'show the state of a task and the events that it accepts, or the state of the engine',
    complete: anyRefs,
    async run(session, rest) {
      const task = await named(session, rest)
      session.printer.lines(task === undefined ? await engineLines(session) : await taskLines(session, task))
    },
  },
  status: {
    usage: 'status',
    summary: 'show the number of tasks by state, the slots, and the tasks that run here',
    run: async (session) =>
      session.printer.lines(statusLines(await session.call('engine:status'), session.clock.now())),
  },
  limits: {
    usage: 'limits',
    summary: 'show how many tasks may run at once, in this engine and in all',
    run: async (session) => session.printer.lines(limitLines(await session.engine.limits())),
  },
}

type Status = OutputOfAbility<'engine:status'>

/** The task that a line names, if any. */
async function named(session: Session, rest: string): Promise<Task | undefined> {
  const ref = takeWord(rest)?.word
  return ref === undefined ? undefined : await session.find(ref)
}

function graphLines({ order, critical }: TaskGraph): string[] {
  if (order.length === 0) return ['no open tasks']
  const byId = new Map(order.map((task) => [task.id, task]))
  const nameOf = (id: string) => (byId.has(id) ? `#${byId.get(id)?.seq}` : id)
  const after = ({ blockedBy }: BriefTask) =>
    blockedBy.length === 0 ? '' : `, after ${blockedBy.map(nameOf).join(', ')}`
  return [
    ...order.map((task, index) => `${index + 1}. ${changedLine(task)}${after(task)}`),
    ...critical.map(({ taskId, holdsUp }) => `${nameOf(taskId)} holds up ${holdsUp}`),
  ]
}

function readCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= maxEvents) return count
  throw misuse(`N of /events is a number from 1 to ${maxEvents}, got "${text}". Usage: /events [TASK] [N]`)
}

async function latest(session: Session, limit: number, taskId?: string): Promise<string[]> {
  const { events } = await session.call<{ events: TaskEvent[] }>('event:list', {
    before: Number.MAX_SAFE_INTEGER,
    limit,
    taskId,
  })
  return events.length === 0 ? ['no events'] : await eventLines(session, events.reverse())
}

async function eventLines({ engine }: Session, events: readonly TaskEvent[]): Promise<string[]> {
  const numberOf = await taskNumbers(
    engine,
    events.map(({ taskId }) => taskId),
  )
  return events.map((event) => eventLine(event, numberOf))
}

async function taskLines(session: Session, task: Task): Promise<string[]> {
  const { engine } = session
  const { id: taskId } = task
  const [{ dependents }, why, runs, calls, events] = await Promise.all([
    session.call<{ dependents: TaskRow[] }>('task:get', { taskId }),
    engine.why(taskId),
    engine.runs(taskId),
    engine.calls(taskId),
    latest(session, latestEvents, taskId),
  ])
  const accepts = acceptedEvents(task.status)
  const run = runs.at(-1)
  const openCalls = calls.filter(({ status }) => status === 'pending' || status === 'in_progress')
  return [
    `${taskLabel(task)} (${taskId}), version ${task.version}`,
    `state    ${stateLabel(task)}${stateLabel(task) === task.status ? '' : `, in the ledger ${task.status}`}`,
    `accepts  ${accepts.length === 0 ? 'nothing: it is settled' : accepts.join(', ')}`,
    `why      ${why.message}`,
    `run      ${run === undefined ? 'none so far' : `${run.number} of attempt ${run.attempt}, ${run.outcome ?? run.status}, in ${run.instanceId}`}`,
    ...openCalls.map((call) => `call     ${cleanLine(call.name)} ${call.status}`),
    ...(dependents.length === 0 ? [] : [`before   ${dependents.map((row) => taskLabel(row)).join(', ')}`]),
    ...events.map((line, index) => `${index === 0 ? 'events ' : '       '}  ${line}`),
  ]
}

async function engineLines(session: Session): Promise<string[]> {
  const status = await session.call<Status>('engine:status')
  return [
    `engine   ${status.instanceId}, ${status.working ? 'works' : 'only commands'}`,
    `runs     ${status.executors.length === 0 ? 'no executors' : status.executors.join(', ')}`,
    `feed     at ${status.seq}`,
    ...statusLines(status, session.clock.now()),
    ...limitLines(status.limits),
  ]
}

function statusLines({ tasks, queued, claimable, slots, running }: Status, now: number): string[] {
  const counts = taskStatuses.filter((status) => tasks[status] > 0).map((status) => `${tasks[status]} ${status}`)
  return [
    `tasks    ${counts.length === 0 ? 'none' : counts.join(', ')}`,
    `ready    ${queued} queued, ${claimable} claimable`,
    `slots    ${slots.used} of ${slots.maxConcurrent} used`,
    ...running.map(
      ({ taskId, name, executor, since }) =>
        `running  ${cleanLine(name)} (${taskId}) by ${executor} for ${formatDuration(now - since)}`,
    ),
  ]
}

function limitLines({ engine, shared }: Limits): string[] {
  const own = Object.entries(engine.limits).map(([executor, limit]) => `, ${executor} ${limit}`)
  return [`here     ${engine.maxConcurrent} at once${own.join('')}`, ...sharedLimitLines(shared)]
}
