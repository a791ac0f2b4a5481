// Runs and calls of a task as surfaces return them, with short errors.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { callShape } from '../../entities/call.ts'
import { runShape } from '../../entities/run.ts'
import { storedErrorSchema } from './error-view.ts'

const error = storedErrorSchema().nullable()

/** Times are in epoch milliseconds. */
export const runSchema = once(() => z.object({ ...runShape, error }))

export const callSchema = once(() => z.object({ ...callShape(), error }))
