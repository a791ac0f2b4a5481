// The errors of an invocation: every error that leaves the bus is an ErrandError that names the ability, with the message of the
// thrown value, and that value as its cause.

import { briefError, ErrandError, Failure, nearestName } from '../core/errors.ts'
import { clipped } from '../core/storable-text.ts'
import { readableError, toStoredError } from '../core/stored-error.ts'
import { maxAbilityIdLength } from '../entities/ability-pattern.ts'

/** A thrown value as it leaves the bus. An ErrandError keeps its code; any other becomes an EXECUTION_ERROR. */
export function abilityError(given: unknown, abilityId: string): ErrandError {
  const thrown = readableError(given)
  if (ErrandError.isInstance(thrown)) {
    if (thrown.details['abilityId'] !== undefined) return thrown
    return new ErrandError(thrown.code, thrown.message, { ...thrown.details, abilityId }, thrown)
  }
  const error = briefError(toStoredError(thrown, 'EXECUTION_ERROR'))
  return new ErrandError('EXECUTION_ERROR', error.message, { abilityId, error }, thrown)
}

const uncalled = new WeakSet<ErrandError>()

/** Notes whether the error left an invocation before the handler was called. */
export function noteCalled(error: ErrandError, wasCalled: boolean): void {
  if (wasCalled) uncalled.delete(error)
  else uncalled.add(error)
}

/** True for the error of an invocation that was refused before the handler was called, so that nothing was done. */
export function isUncalled(error: unknown): boolean {
  return ErrandError.isInstance(error) && uncalled.has(error)
}

/** An id from outside, shortened for messages and logs. */
export function shownId(abilityId: unknown): string {
  const text = String(abilityId)
  return clipped(text, maxAbilityIdLength + 1).toWellFormed()
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
    ? `Ability ${abilityId} is a stream and returns chunks, not one result. Use \`invokeStream\` (or \`stream\`).`
    : `Ability ${abilityId} returns one result and is not a stream. Use \`invoke\` (or \`call\`).`
  return new ErrandError('TYPE_MISMATCH', message, { abilityId, isStream })
}

/** The error of an invocation that the caller's signal ended: the reason of the signal if that is an ErrandError. */
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

/** The `Failure` that a handler threw, taken from the error of the bus; the error itself when the handler threw none. */
export function failureWithin(error: unknown): unknown {
  return error instanceof ErrandError && error.cause instanceof Failure ? error.cause : error
}
