// What a schema makes of a recorded value (an input, an answer, a payload), the same in every run: a schema may draw values (a default that is a new
// id, a transform that reads the clock), and calls are found again by them.
import { isDeepStrictEqual } from 'node:util'
import { toJson } from '../core/json.ts'
import { fromImage, toImage } from '../core/json-image.ts'
import { isRedactFailure } from '../core/redact.ts'
import { sleep } from '../core/signals.ts'
import { recordValue } from '../operations/steps/journal.ts'
import { isRunOver, type RunCore } from './run-core.ts'

/** Delay before a refused write is retried: the first, and the maximum. */
const pauseMs = 200
const maxPauseMs = 5_000

/**
 * Parses a value in the first run that needs it, and records what came out if it differs from what was given; later runs, and new attempts,
 * get that. What the journal cannot restore exactly (objects of classes, functions) is parsed in each run.
 * @param identity what the value belongs to, beside its name
 * @throws what `parse` throws
 */
export async function parsedOnce(
  core: RunCore,
  name: 'input' | 'answer' | 'signal',
  identity: unknown,
  given: unknown,
  parse: () => unknown,
): Promise<unknown> {
  const described = core.ref.run > 1 ? core.describe('value', name, identity) : undefined
  const found = described && core.find(described)
  if (found !== undefined) return fromImage(found.result)
  const parsed = parse()
  if (isDeepStrictEqual(parsed, given)) return parsed
  const image = imageOf(parsed)
  if (image === undefined) return parsed
  // Refused before the executor runs.
  toJson(image.value, `what the schema made of the ${name}`)
  const entry = core.entryOf(described ?? core.describe('value', name, identity))
  return fromImage(await core.busy(() => record(core, entry, image.value)))
}

/** Undefined for a value that its image would not restore. A property that is undefined counts as absent, as in all values of the journal. */
function imageOf(parsed: unknown): { value: unknown } | undefined {
  try {
    const value = toImage(parsed, 'what a schema returned')
    return isDeepStrictEqual(fromImage(value), withoutUndefined(parsed)) ? { value } : undefined
  } catch {
    return undefined
  }
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const present = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(present.map(([key, inner]) => [key, withoutUndefined(inner)]))
}

/**
 * Resolves to the value as it was stored. Retries while the ledger refuses; looks first whether the value was written, when that is
 * unknown.
 */
async function record(core: RunCore, entry: Parameters<typeof recordValue>[0], value: unknown): Promise<unknown> {
  const { host, ref } = core
  for (let restMs = pauseMs; ; restMs = Math.min(2 * restMs, maxPauseMs)) {
    try {
      const written = restMs > pauseMs ? await host.read((tx) => tx.call.get(entry.id)) : undefined
      if (written !== undefined) return written.result
      return await core.step(recordValue(entry, value))
    } catch (error) {
      if (core.ended) throw core.ended
      if (isRunOver(error) || isRedactFailure(error) || host.stopped.aborted) throw error
      host.report(error, { ...ref, doing: 'record what a schema returned' })
      await sleep(host.clock, restMs, core.signal)
    }
  }
}
