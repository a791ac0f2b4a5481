// The fields of a task as flags of the command line: their names, their help, and how their values are read.
import type { ParseArgsOptionDescriptor } from 'node:util'
import { z } from 'zod'
import type { CreateOptions } from '../../engine/engine-api.ts'
import { rulesFor } from '../../entities/task-fields.ts'
import { misuse, oneOf, wholeNumber } from '../terminal/arguments.ts'
import { durationOption, jsonOption, timeOption } from '../terminal/option-values.ts'

type FlagValue = string | boolean | Array<string | boolean> | undefined

interface FieldFlag {
  field: string
  option: ParseArgsOptionDescriptor
  /** The placeholder of its value in help. */
  value: string
  says: string
  read(text: string, now: number): unknown
}

/** Fields that are switches here; programs may give them other values. */
const switches: readonly string[] = ['team']

const flags = new Map(
  rulesFor('add').map(([field, { schema, flag, unit, meaning, default: fallback }]): [string, FieldFlag] => {
    const name = flag ?? field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const isSwitch = schema instanceof z.ZodBoolean || switches.includes(field)
    const option = { type: isSwitch ? 'boolean' : 'string', multiple: schema instanceof z.ZodArray } as const
    const [value, read, hint = ''] = isSwitch ? ['', String] : readerOf(name, schema, unit)
    const more = option.multiple ? ' May be given several times.' : ''
    const otherwise =
      fallback === undefined || option.multiple || fallback === '' ? '' : ` Default ${fallback.toString()}.`
    return [name, { field, option, value, says: `${meaning}${hint}${isSwitch ? '' : otherwise}${more}`, read }]
  }),
)

/** The placeholder of a value in help, how its text is read, and a hint for help. */
function readerOf(
  name: string,
  schema: z.ZodType,
  unit: 'time' | 'duration' | undefined,
): [value: string, read: (text: string, now: number) => unknown, hint?: string] {
  if (unit === 'time')
    return [
      'T',
      (text, now) => timeOption(name, text, now),
      ' An ISO time, local without a zone, or how long from now: 90s, 5m, 2h.',
    ]
  if (unit === 'duration') return ['D', (text) => durationOption(name, text), ' 90s, 5m, 2h.']
  if (schema instanceof z.ZodEnum) {
    const words = schema.options as string[]
    return ['WORD', (text) => oneOf(name, text, words), ` One of ${words.join(', ')}.`]
  }
  if (schema instanceof z.ZodUnion) {
    const words = { true: true, false: false, 'all-settled': 'all-settled' }
    return ['WORD', (text) => words[oneOf(name, text, Object.keys(words)) as keyof typeof words]]
  }
  if (schema instanceof z.ZodNumber) {
    if (!schema.isInt) return ['N', (text) => numberIn(name, text)]
    const least = schema.minValue ?? 0
    return ['N', (text) => wholeNumber(name, text, least < 0 ? Number.MIN_SAFE_INTEGER : least)]
  }
  if (schema instanceof z.ZodString || schema instanceof z.ZodArray) return ['TEXT', (text) => text]
  return ['JSON', (text) => jsonOption(name, text, '{"a": 1}')]
}

function numberIn(name: string, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(value)) return value
  throw misuse(`--${name} takes a number, got "${text}".`, { option: name, value: text })
}

/** The options of all fields but some. */
export function fieldOptions(without: readonly string[] = []): Readonly<Record<string, ParseArgsOptionDescriptor>> {
  return Object.fromEntries(flagsWithout(without).map(([name, { option }]) => [name, option]))
}

const flagsWithout = (without: readonly string[]) => [...flags].filter(([, { field }]) => !without.includes(field))

/** A line of help for each of these flags. */
export function fieldHelp(without: readonly string[] = []): string[] {
  const shown = flagsWithout(without)
  const heads = shown.map(([name, { value }]) => `  --${name} ${value}`.trimEnd())
  const width = Math.max(...heads.map((head) => head.length)) + 2
  return shown.map(([, { says }], at) => `${(heads[at] as string).padEnd(width)}${says}`)
}

/** The values of the flags by field; `now` is what durations begin from. @throws ErrandError INVALID_INPUT { option, value } for a value that cannot be read. */
export function fieldsIn(
  values: Readonly<Record<string, FlagValue>>,
  now: number,
): CreateOptions & { executor?: string } {
  return Object.fromEntries(
    [...flags].flatMap(([name, { field, read }]) => {
      const given = values[name]
      return given === undefined ? [] : [[field, typeof given === 'string' ? read(given, now) : given]]
    }),
  )
}
