// All commands of the REPL by name, with `/help`, which describes them, and `/exit`.
import { didYouMean } from '../../core/did-you-mean.ts'
import { nearestName } from '../../core/errors.ts'
import { misuse } from '../terminal/arguments.ts'
import { changeVerbs } from './change-verbs.ts'
import { readVerbs } from './read-verbs.ts'
import type { ReplVerb, ReplVerbs } from './session.ts'
import { sessionVerbs } from './session-verbs.ts'

const help: ReplVerb = {
  usage: 'help [VERB]',
  summary: 'list the commands, or describe one',
  complete: async () => Object.keys(replVerbs),
  async run({ printer }, rest) {
    printer.lines(rest === '' ? overview() : [helpOf(requireVerb(rest.replace(/^[/.]/, '')))])
  },
}

const exit: ReplVerb = {
  usage: 'exit',
  summary: 'end the session; tasks in other processes continue',
  async run(session) {
    session.over = true
  },
}

/** All commands by name, in the order in which `/help` lists them. */
export const replVerbs: ReplVerbs = { ...changeVerbs, ...readVerbs, ...sessionVerbs, help, exit }

export function isVerb(word: string): boolean {
  return Object.hasOwn(replVerbs, word)
}

/** @throws ErrandError INVALID_INPUT { verb, nearest } */
export function requireVerb(name: string): ReplVerb {
  const verb = isVerb(name) ? replVerbs[name] : undefined
  if (verb !== undefined) return verb
  const nearest = nearestName(name, Object.keys(replVerbs))
  throw misuse(
    `There is no command /${name}.${didYouMean(nearest === undefined ? undefined : `/${nearest}`)} /help lists them.`,
    {
      verb: name,
      nearest,
    },
  )
}

function helpOf({ usage, summary }: ReplVerb): string {
  return `/${usage}\n  ${summary}`
}

function overview(): string[] {
  return [
    '@TASK TEXT  send a message to a task, and follow it to its answer (Ctrl-C ends following, not the task)',
    ...Object.values(replVerbs).map(({ usage, summary }) => `/${usage}  ${summary}`),
    'TASK is a number, an id or a unique prefix of it, a name, or $ for the last one.',
    'Everything else is JavaScript, with `await`: engine, bus, abilities.task.pause({ taskId }), call("task:pause", { taskId }),',
    'tasks["12"], tasks.report, create({ name }), list(), get(id), …; $ is the last task, _ the last value, _error the last error.',
  ]
}
