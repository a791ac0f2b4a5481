// The values of a live run: the time and what is drawn by chance. Each is recorded before it is given, so that every later run
// gets the same one, and what is made of it is found again.
import { uuidOf } from '../ids.ts'
import { keyOptionsSchema } from '../options.ts'
import { recordValue } from '../steps/journal.ts'
import { checkOptions } from './run-arguments.ts'
import type { RunCore, RunHost } from './run-core.ts'

const draw = {
  now: (host: RunHost): number => host.clock.now(),
  uuid: (host: RunHost): string => uuidOf(host.nextId('uuid') + host.nextId('uuid')),
  random: (host: RunHost): number => host.chance(),
}

type Draw = typeof draw

export async function valueInRun<N extends keyof Draw>(
  core: RunCore,
  name: N,
  options: { key?: string } | undefined,
): Promise<ReturnType<Draw[N]>> {
  const { key } = checkOptions(keyOptionsSchema, options, `run.${name}`)
  const entry = core.describe('value', name, null, key)
  const found = core.find(entry)
  if (found !== undefined) return found.result as ReturnType<Draw[N]>
  return core.busy(async () => {
    const value = draw[name](core.host) as ReturnType<Draw[N]>
    await core.step(recordValue(core.entryOf(entry), value))
    return value
  })
}
