// `errand machine`: imports a file and prints what in its state machines would not survive a restart.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { counted } from '../../../core/counted.ts'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../../core/errors.ts'
import { messageOf } from '../../../core/stored-error.ts'
import type { Finding } from '../../../user-machines/finding.ts'
import type { AnyStateMachine } from '../../../user-machines/machine-of.ts'
import { misuse } from '../../terminal/arguments.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { printItems } from '../../terminal/io.ts'
import { defineVerb } from '../verb.ts'

export const machine = defineVerb({
  usage: 'machine FILE [EXPORT]',
  help: [
    'Imports a module and inspects the XState machines that it exports, and the executors that machine() of errand/machine made of them, for what would not survive a restart. EXPORT names one of them; default: all.',
    '  error    the machine cannot run durably: a name without an implementation, a context that is not JSON, a wrong meta.ask',
    '  warning  it can, but an actor begins anew after a restart, or a part is found again by its place only',
    'Exits with 1 if there is an error, and with 2 if the file cannot be imported or exports no machine. The file runs as it is imported, so it should start nothing. With --json, one line per machine: { "exports", "machine", "errors", "warnings", "findings" }.',
  ].join('\n'),
  options: {},
  positionals: { min: 1, max: 2 },
  async run(io, { values, positionals: [file = '', wanted] }) {
    const machines = await machinesIn(file, await exportsOf(resolve(io.cwd, file), file), wanted)
    const { findingsOf } = await import('../../../user-machines/inspect-definition.ts')
    const reports = Array.from(machines, ([each, names]) => reportOn(each, names, findingsOf(each)))
    printItems(io, values, reports, reports.flatMap(linesOf))
    return reports.some(({ errors }) => errors > 0) ? exitCodes.failed : exitCodes.done
  },
})

type Exports = Readonly<Record<string, unknown>>

async function exportsOf(path: string, file: string): Promise<Exports> {
  if (!existsSync(path)) throw new ErrandError('NOT_FOUND', `There is no file ${file}.`, { file })
  try {
    return (await import(pathToFileURL(path).href)) as Exports
  } catch (error) {
    const isUnknown = (error as { code?: unknown } | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    const help = isUnknown ? ' Node imports JavaScript, and from version 22.18 on TypeScript (.ts, .mts).' : ''
    throw new ErrandError('INVALID_INPUT', `Cannot import ${file}: ${messageOf(error)}.${help}`, { file }, error)
  }
}

/** Each machine with the names under which it is exported. */
async function machinesIn(
  file: string,
  exported: Exports,
  wanted: string | undefined,
): Promise<Map<AnyStateMachine, string[]>> {
  const { machineOf } = await import('../../../user-machines/machine-of.ts')
  const found = new Map<AnyStateMachine, string[]>()
  for (const [name, value] of Object.entries(exported)) {
    const each = machineOf(value)
    if (each !== undefined) found.set(each, [...(found.get(each) ?? []), name])
  }
  if (found.size === 0) {
    throw misuse(
      `${file} exports no machine of XState 5, and no executor that machine() of errand/machine made of one.`,
      {
        file,
      },
    )
  }
  if (wanted === undefined) return found
  const known = [...found.values()].flat()
  const only = [...found].filter(([, names]) => names.includes(wanted))
  if (only.length > 0) return new Map(only)
  const nearest = nearestName(wanted, known)
  throw misuse(`${file} exports no machine "${wanted}".${didYouMean(nearest)} Its machines are: ${known.join(', ')}.`, {
    file,
    export: wanted,
    nearest,
    known,
  })
}

interface Report {
  /** The names under which the file exports the machine. */
  exports: string[]
  /** The id of the machine. */
  machine: string
  errors: number
  warnings: number
  findings: Finding[]
}

function reportOn({ id }: AnyStateMachine, names: string[], findings: Finding[]): Report {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return { exports: names, machine: id, errors, warnings: findings.length - errors, findings }
}

function linesOf({ exports: names, errors, warnings, findings }: Report): string[] {
  return [
    ...findings.map(({ severity, place, problem, remedy }) => `${severity}  ${place}: ${problem} ${remedy}`),
    `${names.join(', ')}: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
  ]
}
