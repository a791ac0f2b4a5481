// Reads the answer of a model as data: the model was asked for one JSON object and may have wrapped it in a fence or in
// prose. Nothing here throws: an unusable answer is null.
import { jsonObject, toJson } from '../../core/json.ts'

/**
 * The JSON object of an answer: the whole text, else the one fence that holds an object, else the text between the
 * first `{` and the last `}`. Null for anything else: several objects, lists, and objects that no ledger would store.
 */
export function jsonObjectIn(answer: string): Record<string, unknown> | null {
  if (!answer.includes('{')) return null
  return objectOf(answer) ?? objectInFence(answer) ?? objectInProse(answer)
}

function objectInFence(answer: string): Record<string, unknown> | null {
  // Every second piece is fenced, the last one also if the model forgot to close it.
  const fenced = answer.split('```').filter((_piece, index) => index % 2 === 1)
  const objects = fenced.map((piece) => objectOf(piece.replace(/^\w*/, ''))).filter((found) => found !== null)
  return objects.length === 1 ? (objects[0] as Record<string, unknown>) : null
}

function objectInProse(answer: string): Record<string, unknown> | null {
  const [first, last] = [answer.indexOf('{'), answer.lastIndexOf('}')]
  return first === -1 || last < first ? null : objectOf(answer.slice(first, last + 1))
}

function objectOf(text: string): Record<string, unknown> | null {
  const value = jsonObject(text)
  if (value === undefined) return null
  try {
    toJson(value, 'the answer of the model')
    return value
  } catch {
    // JSON that no ledger would store is unusable.
    return null
  }
}

/** A confidence between 0 and 1: `otherwise` when none was given, 0 for anything but a number. */
export function confidenceOf(given: unknown, otherwise: number): number {
  if (given === undefined || given === null) return otherwise
  return Math.min(1, Math.max(0, numberIn(given) ?? 0))
}

/** A number, or the text of one; undefined for anything else. */
export function numberIn(given: unknown): number | undefined {
  const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
  return typeof number !== 'number' || Number.isNaN(number) ? undefined : number
}
