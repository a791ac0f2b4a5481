// The errors of an invocation: every one that leaves the bus is an ErrandError that names the ability, with the message of
// what was thrown and the thrown thing itself as its cause.

import { briefError, ErrandError, Failure, nearestName } from '../core/errors.ts'
import { readableError, toStoredError } from '../core/stored-error.ts'
import { maxAbilityIdLength } from '../entities/ability-pattern.ts'

/** What was thrown, as it leaves the bus. A refusal of the engine keeps its code; whatever else is an EXECUTION_ERROR. */
export function abilityError(given: unknown, abilityId: string): ErrandError {
  const thrown = readableError(given)
  if (ErrandError.isInstance(thrown)) {
    if (thrown.details['abilityId'] !== undefined) return thrown
    return new ErrandError(thrown.code, thrown.message, { ...thrown.details, abilityId }, thrown)
  }
  const error = briefError(toStoredError(thrown, 'EXECUTION_ERROR'))
  return new ErrandError('EXECUTION_ERROR', error.message, { abilityId, error }, thrown)
}

/** What an id that came from outside looks like in messages and logs. */
export function shownId(abilityId: unknown): string {
  const text = String(abilityId)
  return text.length > maxAbilityIdLength ? `${text.slice(0, maxAbilityIdLength)}…` : text
}

export function notFound(abilityId: string, known: Iterable<string>): ErrandError {
  const shown = shownId(abilityId)
  const nearest = abilityId.length > maxAbilityIdLength ? undefined : nearestName(abilityId, known)
  return new ErrandError('NOT_FOUND', `Ability not found: ${shown}${nearest ? `. Did you mean ${nearest}?` : ''}`, {
    abilityId: shown,
    nearest,
  })
}

export function typeMismatch(abilityId: string, isStream: boolean): ErrandError {
  const message = isStream
    ? `Ability ${abilityId} is a stream and gives chunks, not one result. Use \`invokeStream\` (or \`stream\`).`
    : `Ability ${abilityId} gives one result and is no stream. Use \`invoke\` (or \`call\`).`
  return new ErrandError('TYPE_MISMATCH', message, { abilityId, isStream })
}

/** The caller's signal has ended the invocation: its reason, if that says more, is what is thrown. */
export function abortedError(given: unknown, abilityId: string): ErrandError {
  const reason = readableError(given)
  if (ErrandError.isInstance(reason)) return abilityError(reason, abilityId)
  const error = briefError(toStoredError(reason, 'EXECUTION_ERROR'))
  return new ErrandError(
    'EXECUTION_ERROR',
    `Ability ${abilityId} was aborted: ${error.message}`,
    { abilityId, aborted: true, error },
    reason,
  )
}

/** What a handler threw to say how its failure is to be taken, out of what the bus made of it; the error itself where it is none. */
export function failureWithin(error: unknown): unknown {
  return error instanceof ErrandError && error.cause instanceof Failure ? error.cause : error
}
