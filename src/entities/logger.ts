// The logger of a program, as an engine calls it: an object first and a text second, which pino and `console` both take as they are.
import { z } from 'zod'
import { once } from '../core/once.ts'

/** What a line is about: ids, names of executors, codes, durations in milliseconds. Never inputs, results, messages or texts of errors. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/**
 * What the option `logger` takes: pino, `console`, or any object with these methods.
 *
 * @example
 * await createEngine({ ledger: 'tasks.db', executors, logger: pino() })
 */
export interface Logger {
  debug(fields: LogFields, message: string): unknown
  info(fields: LogFields, message: string): unknown
  warn(fields: LogFields, message: string): unknown
  error(fields: LogFields, message: string): unknown
}

export type LogLevel = keyof Logger
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export const loggerSchema = once(() =>
  z.custom<Logger>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      levels.every((level) => typeof (value as Record<string, unknown>)[level] === 'function'),
    'expected an object with `debug`, `info`, `warn` and `error`, such as pino() or console',
  ),
)
