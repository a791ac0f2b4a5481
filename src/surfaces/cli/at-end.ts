// What a verb has started and its command line ends: the processes of MCP servers, which would keep the process of the command line alive.
import type { CommandIo } from '../terminal/io.ts'

type Ending = () => Promise<unknown>

const endings = new WeakMap<CommandIo, Ending[]>()

/** The work is done when the verb of this command line has ended, however it ended. */
export function atEnd(io: CommandIo, ending: Ending): void {
  endings.set(io, [...(endings.get(io) ?? []), ending])
}

/** Does all of that work; never rejects. */
export async function endAll(io: CommandIo): Promise<void> {
  await Promise.allSettled((endings.get(io) ?? []).map((ending) => ending()))
  endings.delete(io)
}
