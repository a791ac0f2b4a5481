// On which host memory keeps what has ended: the engine gives its tasks to memory while it closes, too, when nobody else may write.
import type { Caller } from '../../bus/caller.ts'
import type { MemoryHost } from '../../memory/memory-host.ts'
import type { AbilityHost } from '../ability-host.ts'

export async function keeperHost(host: AbilityHost, { surface }: Caller): Promise<MemoryHost> {
  return surface === 'engine' ? await host.whileClosing() : host
}
