// Writes lines to the logger of the program, with the id of the engine. Without a logger there is none of these objects, and nothing is paid.
import { guarded } from '../core/guarded.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import { describeError } from '../core/stored-error.ts'
import type { LogFields, Logger, LogLevel } from '../entities/logger.ts'

type GivenFields = Readonly<Record<string, LogFields[string] | undefined>>

export class Log {
  readonly #logger: Logger
  readonly #instance: string
  #hasFailed = false

  constructor(logger: Logger, instance: string) {
    this.#logger = logger
    this.#instance = instance
  }

  /** A logger that fails stops nothing; its first failure is printed. */
  write(level: LogLevel, fields: GivenFields, message: string): void {
    guarded(
      () => this.#logger[level]({ instance: this.#instance, ...omitUndefined(fields) } as LogFields, message),
      (error) => {
        if (this.#hasFailed) return
        this.#hasFailed = true
        console.error('errand: the logger threw', describeError(error))
      },
    )
  }
}
