// A run as events, one JSON object a line: the feed itself, for programs.
import { type CommandIo, printJson } from './io.ts'
import type { Reporter } from './reporter.ts'

export function createJsonLines(io: CommandIo): Reporter {
  return { ownsScreen: false, event: (event) => printJson(io, event), end() {} }
}
