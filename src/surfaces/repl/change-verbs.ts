// The commands that change tasks, each like the verb of the command line; and messages to a task, with its answer.
import { omitUndefined } from '../../core/omit-undefined.ts'
import type { CreateOptions, StreamItem } from '../../engine/engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { taskEvents } from '../../machines/task-machine.ts'
import { isActive } from '../../plans/idle.ts'
import { AnswerStream } from '../terminal/answer-stream.ts'
import { answerTask } from '../terminal/answer-text.ts'
import { misuse, parseOptions } from '../terminal/arguments.ts'
import { changeAs } from '../terminal/as-person.ts'
import { forkAs } from '../terminal/fork-task.ts'
import { inputIn, parsedOptions, usageOf, type VerbOperation, verbOperations } from '../terminal/operation-verb.ts'
import { jsonOption } from '../terminal/option-values.ts'
import { changedLine, sentLine, taskLabel, taskNumber } from '../terminal/task-labels.ts'
import { takeWord, wordsOf } from './read-line.ts'
import { type ReplVerb, type ReplVerbs, type Session, sessionCaller } from './session.ts'
import { anyRefs, openRefs, refsAccepting } from './task-refs.ts'

/** The commands that derive from operations: each applies its operation to every named task. */
const operationVerbs: ReplVerbs = Object.fromEntries(verbOperations.map((each) => [each.verb.name, toEach(each)]))

function toEach(operation: VerbOperation): ReplVerb {
  const { verb } = operation
  const usage = usageOf(verb, 'TASK')
  const event = taskEvents.find((each) => `task:${each}` === operation.id)
  return {
    usage,
    summary: verb.summary,
    complete: event === undefined ? anyRefs : refsAccepting(event),
    async run(session, rest) {
      const words = wordsOf(rest)
      // Without options every word names a task, also one that begins with a dash.
      const { values, positionals } =
        verb.options === undefined
          ? { values: {}, positionals: words }
          : parseOptions(`/${usage}`, words, parsedOptions(verb))
      if (positionals.length === 0) throw misuse(`The task is missing. Usage: /${usage}`)
      const input = inputIn(verb, values)
      for (const ref of positionals) {
        const task = await session.find(ref)
        const outcome = await session.change(task, ({ engine }) =>
          changeAs(engine, sessionCaller, operation.id, task, input, verb.said),
        )
        session.printer.line(typeof outcome === 'string' ? `${taskLabel(task)} ${outcome}` : changedLine(outcome))
      }
    },
  }
}

export const changeVerbs: ReplVerbs = {
  ...operationVerbs,
  create: {
    usage: 'create NAME OR GOAL… [--executor X [--input JSON]] [--by-hand]',
    summary:
      'create a task: the words are the goal of an agent; with --executor, or --by-hand for a task to be claimed, its name. JSON extends to the end of the line',
    async run(session, rest) {
      const [task] = await session.engine.create([readCreation(rest)])
      if (task === undefined) return
      session.printer.line(`${taskLabel(session.touch(task))} created (${task.id})`)
    },
  },
  cancel: {
    usage: 'cancel TASK [REASON…]',
    summary: 'stop a task and its subtasks for good',
    complete: refsAccepting('cancel'),
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      const reason = text.replace(/^(?:--reason|-r)[\s=]/, '').trim() || undefined
      await change(session, task, ({ engine }) => changeAs(engine, sessionCaller, 'task:cancel', task, { reason }))
    },
  },
  answer: {
    usage: 'answer TASK [VALUE]',
    summary: 'answer the question of a task; VALUE is JSON, otherwise text; without it, the default is the answer',
    complete: refsAccepting('answer'),
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      const answered = await session.change(task, ({ engine }) =>
        answerTask(engine, sessionCaller, task, text || undefined),
      )
      session.printer.line(`${taskLabel(answered)} answered`)
    },
  },
  fork: {
    usage: 'fork TASK [CALL]',
    summary: 'a new task that begins with what this one has recorded before a call; `errand fork` has options',
    complete: anyRefs,
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      const forked = await session.change(task, ({ engine }) =>
        forkAs(engine, sessionCaller, task, text === '' ? {} : { at: text }),
      )
      session.printer.line(changedLine(forked, `forked from ${taskNumber(task)}`))
    },
  },
  signal: {
    usage: 'signal TASK NAME [JSON]',
    summary: 'send a task what it waits for by name; JSON is what it gets, default true',
    complete: openRefs,
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      const { word: name, rest: json } = takeWord(text) ?? { word: undefined, rest: '' }
      if (name === undefined)
        throw misuse(`The name of the signal for ${taskLabel(task)} is missing. Usage: /signal TASK NAME [JSON]`)
      const payload = json === '' ? undefined : jsonOption('data', json, '{"amount": 12}')
      const sent = await session.change(task, ({ engine }) =>
        changeAs(engine, sessionCaller, 'task:signal', task, omitUndefined({ name, payload })),
      )
      session.printer.line(changedLine(sent, 'signal sent'))
    },
  },
  send: {
    usage: 'send TASK TEXT…',
    summary: 'send a message to a task, and do not wait for its answer; "@TASK TEXT" waits',
    complete: openRefs,
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      session.printer.line(sentLine(await send(session, task, text)))
    },
  },
}

/** `@ref text`: sends a message to a task and follows it to its answer. Without a text, only follows it. */
export async function talk(session: Session, ref: string, text: string, signal: AbortSignal): Promise<void> {
  if (ref === '') throw misuse('The task is missing: "@TASK TEXT" sends it a message; TAB after @ lists the tasks.')
  const after = await session.position()
  const named = await session.find(ref)
  const task = text === '' ? named : await send(session, named, text)
  await followTask(session, task, after, signal)
}

/** Prints the stream after the position `after`; resolves when nothing more is expected, or the signal aborts. */
async function followTask(session: Session, task: Task, after: number, signal: AbortSignal): Promise<void> {
  const { printer } = session
  if (!(await isWorthFollowing(session, task))) {
    printer.line(sentLine(task))
    return
  }
  const answers = new AnswerStream(
    { text: (piece) => printer.text(piece), note: (text) => printer.line(`· ${text}`) },
    { showsAll: false },
  )
  session.followed = task.id
  try {
    for await (const item of session.stream<StreamItem>('task:stream', { taskId: task.id, after }, signal)) {
      answers.take(item)
      if (await isAnswered(session, item)) break
    }
  } finally {
    if (!signal.aborted) answers.end()
    session.followed = undefined
  }
  if (signal.aborted) return
  const now = await session.engine.get(task.id)
  if (now !== null && now.status !== 'completed') printer.line(`· ${changedLine(now)}`)
}

/** A task without an executor may never answer. A script waits only for a task that is certain to continue. */
async function isWorthFollowing({ engine, interactive }: Session, task: Task): Promise<boolean> {
  if (task.executor === null || !(await isActive(engine, [task]))) return false
  return interactive || task.status === 'working' || engine.status.get().context.working
}

async function isAnswered({ engine }: Session, item: StreamItem): Promise<boolean> {
  if (item.type === 'end' || item.type === 'question') return true
  if (item.type !== 'state' || item.status === 'working') return false
  const task = await engine.get(item.taskId)
  return task === null || isSettled(task.status) ? false : !(await isActive(engine, [task]))
}

async function send(session: Session, task: Task, text: string): Promise<Task> {
  if (text === '') throw misuse(`The message for ${taskLabel(task)} is missing. Usage: /send TASK TEXT…`)
  return await session.change(task, () => changeAs(session.engine, sessionCaller, 'task:send', task, { message: text }))
}

async function change(
  session: Session,
  task: Task,
  act: (session: Session, task: Task) => Promise<Task>,
): Promise<void> {
  session.printer.line(changedLine(await session.change(task, act)))
}

async function taskAndText(session: Session, rest: string) {
  const { word, rest: text } = takeWord(rest) ?? { word: undefined, rest: '' }
  return { task: await session.find(word), text }
}

function readCreation(rest: string): CreateOptions & { executor?: string } {
  const [, before = rest, json] = /^([\s\S]*?)(?:^|\s)--input\s+([\s\S]+)$/.exec(rest) ?? []
  const byHand = /(?:^|\s)--by-hand(?=\s|$)/.test(before)
  const executor = /(?:^|\s)--executor[\s=]+(\S+)/.exec(before)?.[1]
  const words = before
    .replace(/(?:^|\s)--by-hand(?=\s|$)/, ' ')
    .replace(/(?:^|\s)--executor[\s=]+\S+/, ' ')
    .trim()
  const unknown = /(?:^|\s)(--[a-z][\w-]*)/.exec(words)?.[1]
  if (unknown !== undefined) throw misuse(`There is no option ${unknown} here. Usage: /${changeVerbs['create']?.usage}`)
  if (byHand && executor !== undefined)
    throw misuse('--by-hand and --executor cannot be combined: a task is either claimed or run by an executor.')
  if (executor === undefined && json !== undefined)
    throw misuse('--input needs --executor: without an executor it is not used.')
  if (words === '' && executor === undefined) throw misuse('The name or goal is missing. Usage: /create NAME OR GOAL…')
  if (executor === undefined) return byHand ? { name: words } : { goal: words }
  const input = json === undefined ? undefined : jsonOption('input', json, '{"run": "make"}')
  return { executor, name: words || undefined, input }
}
