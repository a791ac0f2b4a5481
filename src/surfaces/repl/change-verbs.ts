// The commands that change tasks: each does what the verb of the command line does, to the tasks that the line names. And to talk with
// one: what it says from some moment on, until it has answered.
import type { CreateOptions, StreamItem } from '../../engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { isActive } from '../../plans/idle.ts'
import { AnswerStream } from '../../terminal/answer-stream.ts'
import { answerTask } from '../../terminal/answer-text.ts'
import { misuse } from '../../terminal/arguments.ts'
import { changeAs } from '../../terminal/change-as.ts'
import { jsonOption } from '../../terminal/option-values.ts'
import { changedLine, taskLabel } from '../../terminal/task-labels.ts'
import { takeWord, wordsOf } from './read-line.ts'
import { type ReplVerb, type ReplVerbs, type Session, sessionCaller } from './session.ts'
import { openRefs, refsAccepting } from './task-refs.ts'

/** Does one thing to each task that is named. */
function toEach(verb: 'start' | 'pause' | 'resume' | 'retry', summary: string): ReplVerb {
  return {
    usage: `${verb} TASK…`,
    summary,
    complete: refsAccepting(verb),
    async run(session, rest) {
      const refs = wordsOf(rest)
      if (refs.length === 0) throw misuse(`Which task? Usage: /${verb} TASK…`)
      for (const ref of refs) await change(session, await session.find(ref), ({ engine }, { id }) => engine[verb](id))
    },
  }
}

export const changeVerbs: ReplVerbs = {
  create: {
    usage: 'create NAME OR GOAL… [--executor X [--input JSON]] [--by-hand]',
    summary:
      'create a task: the words are the goal of an agent; with --executor, or --by-hand for whoever claims it, its name. JSON goes to the end of the line',
    async run(session, rest) {
      const [task] = await session.engine.create([readCreation(rest)])
      if (task === undefined) return
      session.printer.line(`${taskLabel(session.touch(task))} created (${task.id})`)
    },
  },
  start: toEach('start', 'start what is held or worked on by hand'),
  pause: toEach('pause', 'stop a running task for now'),
  resume: toEach('resume', 'let a paused task run again'),
  retry: toEach('retry', 'give a failed task a new attempt'),
  cancel: {
    usage: 'cancel TASK [REASON…]',
    summary: 'stop a task and all below it for ever',
    complete: refsAccepting('cancel'),
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      await change(session, task, ({ engine }, { id }) => engine.cancel(id, text || undefined))
    },
  },
  answer: {
    usage: 'answer TASK [VALUE]',
    summary: 'answer the question of a task; VALUE is JSON, or the words as they are; without one its default',
    complete: refsAccepting('answer'),
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      const answered = await session.change(task, ({ engine }) =>
        answerTask(engine, sessionCaller, task, text || undefined),
      )
      session.printer.line(`${taskLabel(answered)} answered`)
    },
  },
  send: {
    usage: 'send TASK TEXT…',
    summary: 'tell a task something, and do not wait for what it says; "@TASK TEXT" waits',
    complete: openRefs,
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      session.printer.line(changedLine(await send(session, task, text), 'told'))
    },
  },
}

/** `@ref text`: tells a task something and follows it to its answer. Without a text it is only followed. */
export async function talk(session: Session, ref: string, text: string, signal: AbortSignal): Promise<void> {
  if (ref === '') throw misuse('Which task? "@TASK TEXT" tells a task something; TAB after @ lists them.')
  const after = await session.position()
  const named = await session.find(ref)
  const task = text === '' ? named : await send(session, named, text)
  await followTask(session, task, after, signal)
}

/** Tells what comes after the position `after`; resolves when nothing more is to be expected, or the signal aborts. */
async function followTask(session: Session, task: Task, after: number, signal: AbortSignal): Promise<void> {
  const { printer } = session
  if (!(await isWorthFollowing(session, task))) {
    printer.line(changedLine(task, 'told'))
    return
  }
  const told = new AnswerStream(
    { text: (piece) => printer.text(piece), note: (words) => printer.line(`· ${words}`) },
    { showsAll: false },
  )
  session.followed = task.id
  try {
    for await (const item of session.stream<StreamItem>('task:stream', { taskId: task.id, after }, signal)) {
      told.take(item)
      if (await isAnswered(session, item)) break
    }
  } finally {
    if (!signal.aborted) told.end()
    session.followed = undefined
  }
  if (signal.aborted) return
  const now = await session.engine.get(task.id)
  if (now !== null && now.status !== 'completed') printer.line(`· ${changedLine(now)}`)
}

/** Whoever works on a task by hand may answer at any time, or never. A script waits only for what certainly goes on. */
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
  if (text === '') throw misuse(`What shall ${taskLabel(task)} be told? Usage: /send TASK TEXT…`)
  return session.touch(await changeAs(session.engine, sessionCaller, 'task:send', task, { message: text }))
}

async function change(session: Session, task: Task, act: Parameters<Session['change']>[1]): Promise<void> {
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
  if (unknown !== undefined) throw misuse(`${unknown} is not taken here. Usage: /${changeVerbs['create']?.usage}`)
  if (byHand && executor !== undefined)
    throw misuse('--by-hand is for whoever claims it; --executor names who runs it.')
  if (executor === undefined && json !== undefined)
    throw misuse('--input needs --executor: without one nobody would read it.')
  if (words === '' && executor === undefined) throw misuse('What is to be done? /create NAME OR GOAL…')
  if (executor === undefined) return byHand ? { name: words } : { goal: words }
  const input = json === undefined ? undefined : jsonOption('input', json, '{"run": "make"}')
  return { executor, name: words || undefined, input }
}
