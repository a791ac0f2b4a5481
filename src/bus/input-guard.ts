// Checks an input before its schema: refuses text that is not JSON, and data that could reach a prototype, that no database keeps, or
// that is nested too deep. Live objects (a model, a signal) are checked by the schema only.
import { ErrandError } from '../core/errors.ts'
import { maxJsonDepth, maxJsonLength } from '../core/json.ts'
import { isPlainObject } from './json-schema.ts'

/**
 * The value of an input given as JSON text.
 * @throws ErrandError INVALID_INPUT { issues }
 */
export function readJson(json: unknown, abilityId: string): unknown {
  if (typeof json !== 'string') {
    throw refuse(
      abilityId,
      '',
      `expected JSON text, got ${json === null ? 'null' : typeof json}; \`call\` takes values`,
    )
  }
  if (json.length > maxJsonLength) {
    throw refuse(abilityId, '', `it is ${json.length} characters of JSON, at most ${maxJsonLength} are accepted`)
  }
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw refuse(abilityId, '', `it is not JSON: ${(error as Error).message}`, error)
  }
}

/**
 * Refuses keys that could reach a prototype, NUL, half surrogates, and nesting deeper than the ledger keeps.
 * @throws ErrandError INVALID_INPUT { issues }
 */
export function refuseHostileData(value: unknown, abilityId: string): void {
  inspect(value, [], abilityId)
}

function inspect(value: unknown, path: readonly string[], abilityId: string): void {
  if (typeof value === 'string') inspectText(value, path, abilityId)
  if (!Array.isArray(value) && !isPlainObject(value)) return
  if (path.length >= maxJsonDepth) throw refuse(abilityId, '', `it is nested deeper than ${maxJsonDepth} levels`)
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
      throw refuse(abilityId, [...path, key].join('.'), `the key "${key}" could reach an object's prototype`)
    }
    inspectText(key, path, abilityId)
    inspect(inner, [...path, key], abilityId)
  }
}

function inspectText(text: string, path: readonly string[], abilityId: string): void {
  if (text.includes('\u0000'))
    throw refuse(abilityId, path.join('.'), 'it contains a NUL character, which the ledger cannot store')
  if (!text.isWellFormed()) {
    throw refuse(abilityId, path.join('.'), 'it contains half of a surrogate pair, which the ledger cannot store')
  }
}

function refuse(abilityId: string, path: string, why: string, cause?: unknown): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The input of ${abilityId} is not valid: ${path ? `${path}: ` : ''}${why}.`,
    { abilityId, issues: [{ path, message: why }] },
    cause,
  )
}
