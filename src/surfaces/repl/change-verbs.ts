// The commands that change tasks. Each is one ability, called for the tasks that the line names.

import type { TaskRow } from '../../abilities/views/task-row.ts'
import type { Task } from '../../entities/task.ts'
import { ErrandError } from '../../errors.ts'
import { parseAnswer } from '../cli/answer-text.ts'
import { misuse } from '../cli/arguments.ts'
import { jsonOption } from '../cli/json-option.ts'
import { stateWord, taskLabel } from '../cli/task-words.ts'
import { followTask } from './follow-task.ts'
import { takeWord, wordsOf } from './read-line.ts'
import type { ReplVerb, ReplVerbs } from './repl-verb.ts'
import type { Session } from './session.ts'
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
      for (const ref of refs) {
        const { id } = await session.find(ref)
        tellState(session, await session.change(id, `task:${verb}`))
      }
    },
  }
}

export const changeVerbs: ReplVerbs = {
  create: {
    usage: 'create NAME OR GOAL… [--executor X [--input JSON]] [--by-hand]',
    summary:
      'create a task: the words are the goal of an agent; with --executor, or --by-hand for whoever claims it, its name. JSON goes to the end of the line',
    async run(session, rest) {
      const { taskId, task } = await session.call<{ taskId: string; task: TaskRow }>('task:create', readCreation(rest))
      const created = await session.engine.get(taskId)
      if (created !== null) session.touch(created)
      session.printer.line(`${taskLabel(task)} created (${taskId})`)
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
      tellState(session, await session.change(task.id, 'task:cancel', { reason: text || 'canceled by hand' }))
    },
  },
  answer: {
    usage: 'answer TASK [VALUE]',
    summary: 'answer the question of a task; VALUE is JSON, or the words as they are; without one its default',
    complete: refsAccepting('answer'),
    async run(session, rest) {
      const { task, text } = await taskAndText(session, rest)
      const value = text === '' ? {} : { value: parseAnswer(text, task.questions[0]?.schema) }
      tellState(session, await session.change(task.id, 'task:answer', value), 'answered')
    },
  },
  send: {
    usage: 'send TASK TEXT…',
    summary: 'tell a task something, and do not wait for what it says; "@TASK TEXT" waits',
    complete: openRefs,
    async run(session, rest) {
      const { word: ref, rest: text } = takeWord(rest) ?? { word: undefined, rest: '' }
      const { id } = await sendTo(session, ref, text)
      tellState(session, await session.find(id), 'told')
    },
  },
}

/** `@ref text`: tells a task something and follows it to its answer. Without a text it is only followed. */
export async function talk(session: Session, ref: string, text: string, signal: AbortSignal): Promise<void> {
  if (ref === '') throw misuse('Which task? "@TASK TEXT" tells a task something; TAB after @ lists them.')
  const before = await session.show((await session.find(ref)).id)
  if (text !== '') await sendTo(session, before.task.id, text)
  const task = await session.find(before.task.id)
  await followTask(session, task, before.seq, signal)
}

async function sendTo(session: Session, ref: string | undefined, text: string) {
  const task = await session.find(ref)
  if (text === '') throw misuse(`What shall ${taskLabel(task)} be told? Usage: /send TASK TEXT…`)
  await session.call('task:send', { taskId: task.id, message: text })
  return task
}

async function taskAndText(session: Session, rest: string) {
  const { word, rest: text } = takeWord(rest) ?? { word: undefined, rest: '' }
  return { task: await session.find(word), text }
}

function tellState({ printer }: Session, task: Task, more?: string): void {
  printer.line(`${taskLabel(task)} ${stateWord(task)}${more === undefined ? '' : `, ${more}`}`)
}

/** What `task:create` takes. */
function readCreation(rest: string): Record<string, unknown> {
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
  return {
    executor,
    ...(words === '' ? {} : { name: words }),
    ...(json === undefined ? {} : { input: jsonOption('input', json, '{"run": "make"}') }),
  }
}
