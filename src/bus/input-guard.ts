// Checks an input around its schema: refuses text that is not JSON, and data that no database keeps or that is nested too deep. Live objects (a model, a signal) are checked by the schema only.
import { ErrandError } from '../core/errors.ts'
import { type Fault, faultIn, maxJsonLength } from '../core/json.ts'
import { parseJson } from '../core/json-text.ts'

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
    return parseJson(json)
  } catch (error) {
    throw refuse(abilityId, '', `it is not JSON: ${(error as Error).message}`, error)
  }
}

/**
 * Refuses NUL, half surrogates, and nesting deeper than the ledger keeps. The schemas of texts for people mend them, so a fault in a text
 * does not count if `parsed` returns that text without a fault.
 * @throws ErrandError INVALID_INPUT { issues }
 */
export function refuseHostileData<T>(value: unknown, abilityId: string, parsed: () => T): T {
  const fault = faultIn(value)
  if (fault === undefined) return parsed()
  if (!fault.isText) throw refuse(abilityId, fault.path.join('.'), fault.what)
  const input = parsed()
  const left = faultIn(input) ?? (isTextAt(input, fault.path) ? undefined : fault)
  if (left !== undefined) throw refuse(abilityId, left.path.join('.'), left.what)
  return input
}

function isTextAt(input: unknown, path: Fault['path']): boolean {
  const found = path.reduce<unknown>((holder, key) => (holder as Record<string, unknown> | undefined)?.[key], input)
  return typeof found === 'string'
}

function refuse(abilityId: string, path: string, why: string, cause?: unknown): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The input of ${abilityId} is not valid: ${path ? `${path}: ` : ''}${why}.`,
    { abilityId, issues: [{ path, message: why }] },
    cause,
  )
}
