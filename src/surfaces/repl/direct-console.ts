// The `console` of the lines at a terminal. Ctrl-C ends a loop wherever it stands, also within a write to a stream: that stream would
// take its write for unfinished ever after, and show nothing more of the session. What is written directly leaves nothing unfinished.
import { Console } from 'node:console'
import { writeSync } from 'node:fs'

/** As a name for the lines; none where the output is no terminal of the process: lines there use the console that `node:repl` makes. */
export function directConsole(output: NodeJS.WritableStream & { fd?: unknown; isTTY?: unknown }): {
  console?: Console
} {
  const { fd } = output
  if (typeof fd !== 'number' || output.isTTY !== true) return {}
  const stdout = Object.create(output, { write: { value: (text: string) => writeAll(fd, text) } }) as typeof output
  return { console: new Console({ stdout, ignoreErrors: false }) }
}

function writeAll(fd: number, text: string): void {
  let left = Buffer.from(text)
  while (left.length > 0) left = left.subarray(writeSome(fd, left))
}

/** A terminal that takes no more just now is asked again. */
function writeSome(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw error
  }
}
