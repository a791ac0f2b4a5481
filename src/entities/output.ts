// The output of a run that is no message: what a function or a command prints.
import { z } from 'zod'
import { once } from '../core/once.ts'

export type OutputStreamName = 'stdout' | 'stderr'

export const emitOptionsSchema = once(() =>
  z.strictObject({
    /** Also stores the output in the ledger. Default false. */
    store: z.boolean().optional(),
    /** Default `stdout`. */
    stream: z.enum(['stdout', 'stderr']).optional(),
  }),
)
/** Options of `run.emit`. */
export interface EmitOptions extends z.input<ReturnType<typeof emitOptionsSchema>> {}

export interface Output {
  text: string
  stream: OutputStreamName
}

/** The field of an event or of an item of a stream that names the standard error; none for other output. */
export function namedStream(stream: unknown): { stream?: 'stderr' } {
  return stream === 'stderr' ? { stream } : {}
}
