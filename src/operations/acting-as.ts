// The name under which a caller claims and changes tasks, and the fields of inputs that hold it.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { wordSchema } from '../entities/task-fields.ts'

export const asSchema = wordSchema.describe('Name of the agent or person that acts.')
export const fenceSchema = once(() => z.int().min(1).describe('Number of the claim, as `claim` returned it.'))

/** The name under which a caller writes: its task's for a model, the user's where the surface identifies one, else `as`. */
export function nameOf(caller: Caller, as: string | undefined): string | undefined {
  return caller.taskId ?? caller.owner ?? as
}

/** @param field of the input that holds the name. @throws ErrandError INVALID_INPUT { field } when there is no name. */
export function requireName(caller: Caller, given: string | undefined, field: 'as' | 'owner' = 'as'): string {
  const name = nameOf(caller, given)
  if (name !== undefined) return name
  throw new ErrandError('INVALID_INPUT', `A claim requires an owner: set \`${field}\`.`, { field })
}
