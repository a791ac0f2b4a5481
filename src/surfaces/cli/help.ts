// The texts of `errand help`: an overview of all verbs with examples, or one verb with its options.
import type { ParseArgsOptionsConfig } from 'node:util'
import { commonOptions } from '../terminal/arguments.ts'
import type { Verb, VerbTable } from './verb.ts'
import { allVerbGroups, type VerbGroup } from './verbs.ts'

/** So that the summaries of all groups are below each other. */
const minNameWidth = 10

/** All verbs, the common options and the exit codes. */
export async function overview(): Promise<string> {
  const groups = await allVerbGroups()
  return [
    'errand: durable tasks. Nothing is lost or done twice, however often the process crashes.',
    '',
    'Usage: errand VERB [ARGUMENTS]',
    '',
    ...groups.flatMap(describeGroup),
    "  --ledger FILE  or postgres://USER@HOST/DATABASE; default: ERRAND_LEDGER, else .errand/ledger.db here or in a parent folder, else the one in git's common directory",
    '  --json         print one JSON value per line',
    '',
    'TASK or ID is the number of a task (#3), its id, or any unique prefix of its id.',
    'Exit codes: 0 done; 1 failed, canceled, or blocked by a failed task; 2 bad input; 3 only tasks are left that wait for an answer, a resume or a claim; 130 interrupted.',
    '"errand help VERB" describes a verb.',
  ].join('\n')
}

function describeGroup({ title, verbs, examples }: VerbGroup): string[] {
  const width = Math.max(...examples.map(([command]) => command.length)) + 2
  const lines = examples.map(([command, meaning]) => `    ${command.padEnd(width)}# ${meaning}`)
  return [title, ...summaries(verbs), ...lines, '']
}

/** Usage, description, verbs and options of one verb. */
export function helpFor(verb: Verb): string {
  const options: ParseArgsOptionsConfig = { ...verb.options, ...commonOptions }
  const names = Object.entries(options).map(
    ([name, option]) =>
      `${option.short === undefined ? '' : `-${option.short}, `}--${name}${option.type === 'string' ? ' …' : ''}`,
  )
  const below = verb.verbs === undefined ? [] : ['', 'Subcommands:', '', ...summaries(verb.verbs)]
  return [`Usage: errand ${verb.usage}`, '', verb.help, ...below, '', `Options: ${names.join('  ')}`].join('\n')
}

function summaries(table: VerbTable): string[] {
  const width = Math.max(minNameWidth, ...Object.keys(table).map((name) => name.length)) + 2
  return Object.entries(table).map(([name, verb]) => `  ${name.padEnd(width)}${verb.summary}`)
}
