// Reads an input that is given as JSON text.
import { ErrandError } from '../core/errors.ts'
import { maxJsonLength } from '../core/json.ts'
import { parseJson } from '../core/json-text.ts'

/**
 * The value of an input given as JSON text.
 * @throws ErrandError INVALID_INPUT { issues }
 */
export function readJson(json: unknown, abilityId: string): unknown {
  if (typeof json !== 'string') {
    throw refuse(abilityId, `expected JSON text, got ${json === null ? 'null' : typeof json}; \`call\` takes values`)
  }
  if (json.length > maxJsonLength) {
    throw refuse(abilityId, `it is ${json.length} characters of JSON, at most ${maxJsonLength} are accepted`)
  }
  try {
    return parseJson(json)
  } catch (error) {
    throw refuse(abilityId, `it is not JSON: ${(error as Error).message}`, error)
  }
}

function refuse(abilityId: string, why: string, cause?: unknown): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The input of ${abilityId} is not valid: ${why}.`,
    { abilityId, issues: [{ path: '', message: why }] },
    cause,
  )
}
