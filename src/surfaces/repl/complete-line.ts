// TAB completion: tasks after `@`, commands after `/`, the arguments of a command after it, and JavaScript elsewhere.
import type { AsyncCompleter } from 'node:readline'
import type { Session } from './session.ts'
import { taskRefs } from './task-refs.ts'
import { replVerbs } from './verbs.ts'

export type Completion = [candidates: string[], completed: string]

/** Returns undefined for JavaScript. */
async function completeLine(session: Session, line: string): Promise<Completion | undefined> {
  if (line.startsWith('@')) return await completeRef(session, line)
  const [, mark, verb, gap, typed = ''] = /^([/.])([a-z-]*)(\s*)([\s\S]*)$/.exec(line) ?? []
  if (mark === undefined || verb === undefined || (mark === '.' && gap === '')) return undefined
  if (gap === '' && typed === '')
    return fitting(
      Object.keys(replVerbs).map((name) => `/${name}`),
      line,
      ' ',
    )
  const complete = Object.hasOwn(replVerbs, verb) ? replVerbs[verb]?.complete : undefined
  if (complete === undefined) return gap === '' ? undefined : [[], line]
  return fitting(await complete(session, typed), /\S*$/.exec(typed)?.[0] ?? '')
}

async function completeRef(session: Session, line: string): Promise<Completion> {
  const typed = line.slice(1)
  if (/\s/.test(typed)) return [[], line]
  return fitting(
    (await taskRefs(session, typed)).map((ref) => `@${ref}`),
    line,
    ' ',
  )
}

/** `end` is appended to a single candidate. */
function fitting(candidates: readonly string[], typed: string, end = ''): Completion {
  const fit = candidates.filter((candidate) => candidate.startsWith(typed)).sort()
  return [fit.length === 1 ? [`${fit[0]}${end}`] : fit, typed]
}

/** Wraps the completer of `node:repl`. */
export function completerFor(session: Session, native: AsyncCompleter): AsyncCompleter {
  return (line, callback) => {
    void completeLine(session, line).then(
      (completion) => (completion === undefined ? native(line, callback) : callback(null, completion)),
      // Offers nothing if the ledger cannot be read; the command itself will report the error.
      () => callback(null, [[], line]),
    )
  }
}
