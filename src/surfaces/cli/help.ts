// What `errand help` says: all verbs at a glance, or one with its options.
import type { ParseArgsOptionsConfig } from 'node:util'
import { commonOptions } from '../../terminal/arguments.ts'
import type { Verb, VerbTable } from './verb.ts'
import { verbs } from './verbs.ts'

/** The overview. */
export function overview(): string {
  return [
    'errand: durable tasks. Nothing is lost or done twice, however often the process dies.',
    '',
    'Usage: errand VERB [ARGUMENTS]',
    '',
    ...summaries(verbs),
    '',
    "  --ledger FILE  else ERRAND_LEDGER, else .errand/ledger.db found upwards, else the one in git's common directory",
    '  --json         one JSON value a line',
    '',
    'A task is named by its id, any unique beginning of it, or #seq.',
    'Exit codes: 0 done, 1 failed, canceled or blocked by such, 2 bad input, 3 only questions are open, 130 interrupted.',
    '"errand help VERB" says more.',
  ].join('\n')
}

/** One verb. */
export function helpFor(verb: Verb): string {
  const options: ParseArgsOptionsConfig = { ...verb.options, ...commonOptions }
  const names = Object.entries(options).map(
    ([name, option]) =>
      `${option.short === undefined ? '' : `-${option.short}, `}--${name}${option.type === 'string' ? ' …' : ''}`,
  )
  const below = verb.verbs === undefined ? [] : ['', 'Verbs below it:', '', ...summaries(verb.verbs)]
  return [`Usage: errand ${verb.usage}`, '', verb.help, ...below, '', `Options: ${names.join('  ')}`].join('\n')
}

function summaries(table: VerbTable): string[] {
  const width = Math.max(...Object.keys(table).map((name) => name.length)) + 2
  return Object.entries(table).map(([name, verb]) => `  ${name.padEnd(width)}${verb.summary}`)
}
