// The options that choose tasks: of `errand ps`, and of the verbs that change many tasks.
import { parseDuration } from '../../core/duration.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import type { TaskFilterOptions } from '../../entities/filter-options.ts'
import { statusLabels } from '../../entities/status-filter.ts'
import { taskStatuses } from '../../entities/task.ts'
import { type FlagsOf, lists, misuse, oneOf, texts } from './arguments.ts'
import { timeOption } from './option-values.ts'

export const filterFlags = {
  ...texts('executor', 'owner', 'code', 'text', 'since', 'before'),
  ...lists('status', 'tag', 'meta'),
} as const

export const filterUsage =
  '[--status S]… [--executor X] [--owner NAME] [--tag T]… [--meta KEY=VALUE]… [--code CODE] [--text WORDS] [--since TIME] [--before TIME]'

export const filterHelp = [
  `  --status S        only tasks in this state: ${taskStatuses.join(', ')} (or, in other vocabularies, ${statusLabels.filter((word) => !taskStatuses.some((status) => status === word)).join(', ')}); may be given several times`,
  '  --executor X      only tasks of this executor',
  '  --owner NAME      only tasks that NAME has claimed',
  '  --tag T           only tasks with this tag; if given several times, with all of them',
  '  --meta KEY=VALUE  only tasks with this field in their metadata; VALUE is JSON, otherwise text',
  '  --code CODE       only failed tasks with this error code',
  '  --text WORDS      only tasks with all these words in their name, goal or description',
  '  --since TIME      only tasks that ended, or if open were created, at this time or later, or within a duration like 2h',
  '  --before TIME     only tasks that ended, or if open were created, before this time, or longer ago than a duration like 2h',
] as const

export function filterIn(values: FlagsOf<typeof filterFlags>, now: number): TaskFilterOptions {
  const { status, executor, owner, tag, meta, code, text, since, before } = values
  return omitUndefined({
    status: status?.map((each) => oneOf('status', each, statusLabels)),
    executor,
    owner,
    tags: tag,
    metadata: meta && Object.fromEntries(meta.map(fieldIn)),
    code,
    text,
    since: since === undefined ? undefined : pastTime('since', since, now),
    before: before === undefined ? undefined : pastTime('before', before, now),
  })
}

/** A duration means so long ago. */
function pastTime(option: string, text: string, now: number): number {
  const durationMs = parseDuration(text)
  return durationMs === undefined ? timeOption(option, text, now) : Math.max(0, Math.floor(now - durationMs))
}

function fieldIn(text: string): [string, string | number | boolean | null] {
  const at = text.indexOf('=')
  if (at < 1) throw misuse(`--meta takes KEY=VALUE, like customer=7, got "${text}".`, { option: 'meta', value: text })
  return [text.slice(0, at), plainValue(text.slice(at + 1))]
}

/** JSON other than a list or an object, else the text itself. */
function plainValue(text: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? text : (value as string | number | boolean | null)
  } catch {
    return text
  }
}
