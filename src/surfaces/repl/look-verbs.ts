// The commands that look: at tasks, what happens to them and why they stand as they do. Each prints what one ability, or a few, say.
import type { EngineStatus, Limits, TaskGraph, Why } from '../../api.ts'
import type { Call } from '../../entities/call.ts'
import type { TaskEvent } from '../../entities/event.ts'
import type { Message } from '../../entities/message.ts'
import type { RunRecord } from '../../entities/run.ts'
import { statusWords } from '../../entities/status-filter.ts'
import { openStatuses, type Task, taskStatuses } from '../../entities/task.ts'
import { acceptedEvents } from '../../machines/task-machine.ts'
import type { TeamContext } from '../../team/context.ts'
import { misuse } from '../cli/arguments.ts'
import { describeConversation } from '../cli/conversation-text.ts'
import { formatDuration } from '../cli/duration.ts'
import { toFlowchart } from '../cli/mermaid.ts'
import { callTable, describePicture, runTable } from '../cli/task-picture.ts'
import { taskTable } from '../cli/task-table.ts'
import { endReason, stateWord, taskLabel } from '../cli/task-words.ts'
import { cleanLine } from '../cli/terminal-text.ts'
import { drawTree } from '../cli/verbs/tree.ts'
import { eventLine } from './event-line.ts'
import { takeWord, wordsOf } from './read-line.ts'
import type { ReplVerbs } from './repl-verb.ts'
import type { Session } from './session.ts'
import { anyRefs } from './task-refs.ts'
import { listed } from './task-rows.ts'

const latestEvents = 5
const usualEvents = 20
/** As many as one page of events may hold. */
const mostEvents = 5_000

export const lookVerbs: ReplVerbs = {
  ps: {
    usage: 'ps [all | STATUS…]',
    summary: 'list the tasks that are not settled, or all, or those in some states',
    complete: async () => ['all', ...statusWords],
    async run(session, rest) {
      const words = wordsOf(rest)
      const rows = await session.rows(rest === 'all' ? {} : { status: words.length === 0 ? openStatuses : words })
      const { printer, clock } = session
      printer.lines(rows.length === 0 ? ['no tasks'] : taskTable(rows.map(listed), clock.now(), printer.columns))
    },
  },
  tree: {
    usage: 'tree [TASK]',
    summary: 'a task and all below it, or every tree',
    complete: anyRefs,
    async run(session, rest) {
      const ref = takeWord(rest)?.word
      const top = ref === undefined ? undefined : (await session.find(ref)).id
      const rows = (await session.rows()).map(listed)
      const roots = rows.filter((row) => (top === undefined ? row.parentId === null : row.id === top))
      session.printer.lines(rows.length === 0 ? ['no tasks'] : roots.flatMap((root) => drawTree(root, rows)))
    },
  },
  show: {
    usage: 'show TASK',
    summary: 'everything about a task',
    complete: anyRefs,
    async run(session, rest) {
      const task = await session.find(wordsOf(rest)[0])
      const { id: taskId } = task
      const [why, { runs }, { calls }, messages, context] = await Promise.all([
        session.call<Why>('task:why', { taskId }),
        session.call<{ runs: RunRecord[] }>('task:runs', { taskId }),
        session.call<{ calls: Call[] }>('task:calls', { taskId }),
        messagesOf(session, taskId),
        session.call<TeamContext>('task:context', { taskId }),
      ])
      const { branch, type } = context.task
      const team = branch === null ? {} : { team: { branch, type, progress: context.progress } }
      const picture = { task, why, runs, calls, messages, ...team }
      session.printer.lines(describePicture(picture, session.printer.columns))
    },
  },
  why: {
    usage: 'why TASK',
    summary: 'why a task does not run',
    complete: anyRefs,
    async run(session, rest) {
      const { id } = await session.find(wordsOf(rest)[0])
      const why = await session.call<Why>('task:why', { taskId: id })
      session.printer.lines([why.message, ...(await othersOf(session, why))])
    },
  },
  graph: {
    usage: 'graph [TASK] [--mermaid]',
    summary: 'in which order the open tasks can be worked off, and what holds up the most',
    complete: anyRefs,
    async run(session, rest) {
      const words = wordsOf(rest)
      const ref = words.find((word) => word !== '--mermaid')
      const parent = ref === undefined ? {} : { parentId: (await session.find(ref)).id }
      const graph = await session.call<TaskGraph>('task:graph', parent)
      session.printer.lines(words.includes('--mermaid') ? [mermaidOf(graph)] : graphLines(graph))
    },
  },
  tail: {
    usage: 'tail [TASK]',
    summary: 'events as they come, until Ctrl-C',
    complete: anyRefs,
    async run(session, rest, signal) {
      const ref = takeWord(rest)?.word
      const only = ref === undefined ? {} : { taskId: (await session.find(ref)).id }
      const after = await session.position()
      if (session.interactive) session.printer.line('(Ctrl-C ends it)')
      const { loudness } = session
      session.loudness = 'quiet'
      try {
        for await (const event of session.stream<TaskEvent>('event:feed', { ...only, after }, signal))
          session.printer.line(eventLine(event))
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        session.loudness = loudness
      }
    },
  },
  events: {
    usage: 'events [TASK] [N]',
    summary: `the latest events, ${usualEvents} unless told`,
    complete: anyRefs,
    async run(session, rest) {
      const words = wordsOf(rest)
      const limit = words[1] === undefined ? usualEvents : readCount(words[1])
      const taskId = words[0] === undefined ? undefined : (await session.find(words[0])).id
      session.printer.lines(await latest(session, limit, taskId))
    },
  },
  runs: {
    usage: 'runs TASK',
    summary: 'the runs of a task',
    complete: anyRefs,
    async run(session, rest) {
      const { id: taskId } = await session.find(wordsOf(rest)[0])
      const { runs } = await session.call<{ runs: RunRecord[] }>('task:runs', { taskId })
      session.printer.lines(runs.length === 0 ? ['no runs'] : runTable(runs, session.printer.columns))
    },
  },
  calls: {
    usage: 'calls TASK',
    summary: 'the calls of a task',
    complete: anyRefs,
    async run(session, rest) {
      const { id: taskId } = await session.find(wordsOf(rest)[0])
      const { calls } = await session.call<{ calls: Call[] }>('task:calls', { taskId })
      session.printer.lines(calls.length === 0 ? ['no calls'] : callTable(calls, session.printer.columns))
    },
  },
  messages: {
    usage: 'messages TASK',
    summary: 'the conversation of a task',
    complete: anyRefs,
    async run(session, rest) {
      const { id } = await session.find(wordsOf(rest)[0])
      const lines = describeConversation(await messagesOf(session, id)).slice(2)
      session.printer.lines(lines.length === 0 ? ['no messages'] : lines)
    },
  },
  inspect: {
    usage: 'inspect [TASK]',
    summary: 'the state of its machine and what that accepts, or the state of the engine',
    complete: anyRefs,
    async run(session, rest) {
      const ref = takeWord(rest)?.word
      session.printer.lines(ref === undefined ? await engineLines(session) : await taskLines(session, ref))
    },
  },
  status: {
    usage: 'status',
    summary: 'tasks by state, slots, and what runs here',
    run: async (session) => session.printer.lines(statusLines(await statusOf(session), session.clock.now())),
  },
  limits: {
    usage: 'limits',
    summary: 'how many tasks may run at once, in this engine and in all',
    run: async (session) => session.printer.lines(limitLines((await statusOf(session)).limits)),
  },
}

/** What `engine:status` gives. */
interface Status extends Omit<EngineStatus, 'counted' | 'lastEvent'> {
  instanceId: string
  seq: number
  limits: Limits
  executors: string[]
}

async function statusOf(session: Session): Promise<Status> {
  return await session.call<Status>('engine:status')
}

async function messagesOf(session: Session, taskId: string): Promise<Message[]> {
  const messages: Message[] = []
  let after = 0
  for (;;) {
    const page = await session.call<{ messages: Message[]; next: number }>('task:messages', {
      taskId,
      after,
      limit: 1_000,
    })
    if (page.messages.length === 0) return messages
    messages.push(...page.messages)
    after = page.next
  }
}

async function othersOf(session: Session, why: Why): Promise<string[]> {
  if (why.tasks.length === 0) return []
  const rows = await session.rows({ ids: why.tasks.slice(0, 1_000) })
  return rows.map((row) => `  ${taskLabel(row)} ${stateWord(listed(row))} ${endReason(row)}`.trimEnd())
}

function graphLines({ order, critical }: TaskGraph): string[] {
  if (order.length === 0) return ['no open tasks']
  const byId = new Map(order.map((task) => [task.id, task]))
  const nameOf = (id: string) => (byId.has(id) ? `#${byId.get(id)?.seq}` : id)
  const after = ({ blockedBy }: Task) => (blockedBy.length === 0 ? '' : `, after ${blockedBy.map(nameOf).join(', ')}`)
  return [
    ...order.map((task, index) => `${index + 1}. ${taskLabel(task)} ${stateWord(task)}${after(task)}`),
    ...critical.map(({ taskId, holdsUp }) => `${nameOf(taskId)} holds up ${holdsUp}`),
  ]
}

function mermaidOf({ order }: TaskGraph): string {
  const nodes = order.map((task) => ({
    id: task.id,
    label: cleanLine(`${task.name}: ${stateWord(task)}`),
    group: false,
    parent: null,
    after: task.blockedBy,
    status: task.status,
  }))
  return toFlowchart(nodes)
}

function readCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= mostEvents) return count
  throw misuse(`/events takes 1 to ${mostEvents} as how many, after the task; got "${text}". Usage: /events [TASK] [N]`)
}

async function latest(session: Session, limit: number, taskId?: string): Promise<string[]> {
  const { events } = await session.call<{ events: TaskEvent[] }>('event:list', {
    before: Number.MAX_SAFE_INTEGER,
    limit,
    ...(taskId === undefined ? {} : { taskId }),
  })
  return events.length === 0 ? ['no events'] : events.reverse().map(eventLine)
}

async function taskLines(session: Session, ref: string): Promise<string[]> {
  const task = await session.find(ref)
  const { id: taskId } = task
  const [{ dependents }, why, { runs }, { calls }, events] = await Promise.all([
    session.show(taskId),
    session.call<Why>('task:why', { taskId }),
    session.call<{ runs: RunRecord[] }>('task:runs', { taskId }),
    session.call<{ calls: Call[] }>('task:calls', { taskId }),
    latest(session, latestEvents, taskId),
  ])
  const accepts = acceptedEvents(task.status)
  const run = runs.at(-1)
  const openCalls = calls.filter(({ status }) => status === 'pending' || status === 'in_progress')
  return [
    `${taskLabel(task)} (${taskId}), version ${task.version}`,
    `state    ${task.status}${task.ready ? `, ready (${stateWord(task)})` : ''}`,
    `accepts  ${accepts.length === 0 ? 'nothing: it is settled' : accepts.join(', ')}`,
    `why      ${why.message}`,
    `run      ${run === undefined ? 'none so far' : `${run.number} of attempt ${run.attempt}, ${run.outcome ?? run.status}, in ${run.instanceId}`}`,
    ...openCalls.map((call) => `call     ${cleanLine(call.name)} ${call.status}`),
    ...(dependents.length === 0 ? [] : [`before   ${dependents.map((row) => taskLabel(row)).join(', ')}`]),
    ...events.map((line, index) => `${index === 0 ? 'events ' : '       '}  ${line}`),
  ]
}

async function engineLines(session: Session): Promise<string[]> {
  const status = await statusOf(session)
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
    `waiting  ${queued} for a slot, ${claimable} for a claim`,
    `slots    ${slots.used} of ${slots.maxConcurrent} used`,
    ...running.map(
      ({ taskId, name, executor, since }) =>
        `running  ${cleanLine(name)} (${taskId}) by ${executor} for ${formatDuration(now - since)}`,
    ),
  ]
}

function limitLines({ engine, shared }: Limits): string[] {
  const single = ([executor, limit]: [string, number]) => `, ${executor} ${limit}`
  return [
    `here     ${engine.maxConcurrent} at once${Object.entries(engine.limits).map(single).join('')}`,
    `shared   ${shared.maxConcurrent ?? 'no limit'}${shared.maxConcurrent === null ? '' : ' at once'}${Object.entries(shared.limits).map(single).join('')}`,
  ]
}
