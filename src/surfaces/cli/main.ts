// The command line as a function: arguments and IO in, an exit code out. Every error ends here as one line on stderr and a
// documented exit code.

import type { ParseArgsOptionsConfig } from 'node:util'
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { packageVersion } from '../../core/package-folder.ts'
import { commonOptions, parseArguments } from '../terminal/arguments.ts'
import { exitCodeOf, exitCodes } from '../terminal/exit-code.ts'
import { type CommandIo, note, noteRefusal, print } from '../terminal/io.ts'
import { wrapIndented } from '../terminal/terminal-text.ts'
import { endAll } from './at-end.ts'
import type { Verb, VerbTable } from './verb.ts'
import { allVerbGroups, allVerbs, ownVerbs, type VerbGroup } from './verbs.ts'

/** Runs one command line; never throws. */
export async function main(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    return await dispatch(argv, io)
  } catch (error) {
    report(error, io, argv.includes('--json'))
    return exitCodeOf(error)
  }
}

async function dispatch(argv: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...args] = argv
  switch (name) {
    case undefined:
      note(io, await overview())
      return exitCodes.badInput
    case 'help':
    case '--help':
    case '-h':
      printHelp(io, args.length > 0 ? helpFor(await find(args)) : await overview())
      return exitCodes.done
    case 'version':
    case '--version':
    case '-V':
      print(io, packageVersion())
      return exitCodes.done
    default:
      return await call(await loadVerb(name), args, io)
  }
}

/** The verb with this path: `board claim`. */
async function find([name = '', ...rest]: readonly string[], known?: VerbTable): Promise<Verb> {
  const verb = await loadVerb(name, known)
  return verb.verbs === undefined || rest.length === 0 ? verb : await find(rest, verb.verbs)
}

async function call(verb: Verb, args: string[], io: CommandIo): Promise<number> {
  const [name, ...rest] = args
  if (verb.verbs !== undefined && name !== undefined && !name.startsWith('-')) {
    return await call(await loadVerb(name, verb.verbs), rest, io)
  }
  return verb.silent === true ? await runSilently(verb, args, io) : await run(verb, args, io)
}

async function run(verb: Verb, args: string[], io: CommandIo): Promise<number> {
  const parsed = parseArguments(verb.usage, args, verb.options ?? {}, verb.positionals)
  if (parsed.values.help) {
    printHelp(io, helpFor(verb))
    return exitCodes.done
  }
  try {
    return (await verb.run(io, parsed, allVerbs)) ?? exitCodes.done
  } finally {
    await endAll(io)
  }
}

/** At a terminal, long lines break between words. */
function printHelp(io: CommandIo, text: string): void {
  const { isTTY, columns } = io.stdout
  print(io, isTTY && columns !== undefined ? wrapIndented(text, columns) : text)
}

async function runSilently(verb: Verb, args: string[], io: CommandIo): Promise<number> {
  try {
    await run(verb, args, io)
  } catch (error) {
    if (io.env['ERRAND_DEBUG'] === '1') report(error, io, false)
  }
  return exitCodes.done
}

/** @param below the verbs below another one; absent: those of the command line. */
async function loadVerb(name: string, below?: VerbTable): Promise<Verb> {
  const verb =
    (await verbIn(below ?? ownVerbs, name)) ?? (below === undefined ? await verbIn(await allVerbs(), name) : undefined)
  if (verb !== undefined) return verb
  const known = below === undefined ? [...Object.keys(await allVerbs()), 'help'] : Object.keys(below)
  const nearest = nearestName(name, known)
  throw new ErrandError(
    'INVALID_INPUT',
    `There is no verb "${name}"${below === undefined ? '' : ' here'}.${didYouMean(nearest)} It is one of: ${known.join(', ')}.`,
    { verb: name, nearest, known },
  )
}

async function verbIn(table: VerbTable, name: string): Promise<Verb | undefined> {
  return Object.hasOwn(table, name) ? (await table[name]?.load())?.[name] : undefined
}

function report(error: unknown, io: CommandIo, json: boolean): void {
  if (ErrandError.isInstance(error)) noteRefusal(io, { json }, error)
  else note(io, `errand: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
}

// The texts of `errand help`: an overview of all verbs with examples, or one verb with its options.

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
    'TASK or ID is the number of a task (#3), its id, any unique prefix of its id, or its name, if one open task has it.',
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
function helpFor(verb: Verb): string {
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
