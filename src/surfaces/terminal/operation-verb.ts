// The verbs that derive from operations: `errand pause ID…` and `/pause TASK…` apply `task:pause` to each of the named tasks.
import type { ParseArgsOptionsConfig } from 'node:util'
import { operations } from '../../engine/operations.ts'
import type { Operation, OperationVerb, VerbOption } from '../../operations/define-operation.ts'
import { oneOf } from './arguments.ts'

/** An operation that has a verb. */
export interface VerbOperation extends Operation {
  readonly verb: OperationVerb
}

type Values = Readonly<Record<string, unknown>>

export const verbOperations: readonly VerbOperation[] = operations.filter(
  (operation): operation is VerbOperation => operation.verb !== undefined,
)

/** @param task what stands for a task: `ID` or `TASK`. */
export function usageOf({ name, options = {} }: OperationVerb, task: string): string {
  const shown = Object.entries(options).map(([option, given]) => `[--${option}${shownValue(given)}]`)
  return [name, `${task}…`, ...shown].join(' ')
}

function shownValue(option: VerbOption): string {
  if ('shown' in option) return ` ${option.shown}`
  return 'words' in option ? ` ${option.words.join('|')}` : ''
}

/** For the parser of arguments. */
export function parsedOptions({ options = {} }: OperationVerb): ParseArgsOptionsConfig {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => {
      if ('means' in option) return [name, { type: 'boolean' }]
      if ('words' in option) return [name, { type: 'string' }]
      const { short, several } = option
      return [name, { type: 'string', ...(short && { short }), ...(several && { multiple: several }) }]
    }),
  )
}

/** The input of the operation besides the task. @throws ErrandError INVALID_INPUT for none of an option's words. */
export function inputIn({ options = {} }: OperationVerb, values: Values): Record<string, unknown> {
  const given = Object.entries(options).filter(([name, option]) => !isAbsent(option, values[name]))
  return Object.fromEntries(
    given.map(([name, option]) => {
      const value = values[name]
      if ('means' in option) return [option.field, option.means]
      return [option.field, 'words' in option ? oneOf(name, value as string, option.words) : value]
    }),
  )
}

/** An option that is not given, or an empty text, as of a variable of a shell that is not set. */
function isAbsent(option: VerbOption, value: unknown): boolean {
  return value === undefined || ('shown' in option && typeof value === 'string' && value.trim() === '')
}
