// What a schema makes of a recorded value (an input, an answer), the same in every run: a schema may draw values (a default that is a new
// id, a transform that reads the clock), and calls are found again by them.
import { isDeepStrictEqual } from 'node:util'
import { fromImage, toImage } from '../core/json-image.ts'
import { rest } from '../core/signals.ts'
import { recordValue } from '../steps/journal.ts'
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
  name: 'input' | 'answer',
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
  const entry = core.entryOf(described ?? core.describe('value', name, identity))
  await core.busy(() => record(core, entry, image.value))
  return fromImage(image.value)
}

/** Undefined for a value that its image would not restore exactly. */
function imageOf(parsed: unknown): { value: unknown } | undefined {
  try {
    const value = toImage(parsed, 'what a schema returned')
    return isDeepStrictEqual(fromImage(value), parsed) ? { value } : undefined
  } catch {
    return undefined
  }
}

/** Retries while the ledger refuses; looks first whether the value was written, when that is unknown. */
async function record(core: RunCore, entry: Parameters<typeof recordValue>[0], value: unknown): Promise<void> {
  const { host, ref } = core
  for (let restMs = pauseMs; ; restMs = Math.min(2 * restMs, maxPauseMs)) {
    try {
      if (restMs > pauseMs && (await host.read((tx) => tx.call.get(entry.id))) !== undefined) return
      return await core.step(recordValue(entry, value))
    } catch (error) {
      if (core.ended) throw core.ended
      if (isRunOver(error) || host.stopped.aborted) throw error
      host.report(error, { ...ref, doing: 'record what a schema returned' })
      await rest(host.clock, restMs, core.signal)
    }
  }
}
